/** What a run executes: a tool, a workflow, a pipe of tools, or a task executor. */
export const RUN_KINDS = ['tool', 'workflow', 'pipe', 'task'] as const;

export type RunKind = (typeof RUN_KINDS)[number];

/**
 * The displayed name of a run: `workflow:nightly`, `pipe:producer|consumer`, `task:codex`; a tool's name has no prefix.
 */
export function runName(kind: RunKind, what: string): string {
  return kind === 'tool' ? what : `${kind}:${what}`;
}

/**
 * The kind of run in a displayed name: in what a user types, and in records and logs of builds that did not write the
 * kind.
 */
export function kindOfName(name: string): RunKind {
  return RUN_KINDS.find((kind) => kind !== 'tool' && name.startsWith(`${kind}:`)) ?? 'tool';
}

/** A name without its kind: `nightly` for `workflow:nightly`. */
export function withoutKind(name: string): string {
  return name.slice(runName(kindOfName(name), '').length);
}

/** Whether runs of this kind run other runs, and no process themselves. */
export function isOrchestration(kind: RunKind): boolean {
  return kind === 'workflow' || kind === 'pipe';
}

/** The form of a run id. Anything else is rejected before it is used in a path. */
export const RUN_ID_PATTERN = /^r-[0-9a-z][0-9a-z-]{0,62}$/;

/** The format version of `metadata.json`. */
export const RUN_RECORD_VERSION = 1;
