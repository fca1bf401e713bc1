/** What a run runs: a tool, a workflow, a pipe of tools, or the executor of a task. */
export const RUN_KINDS = ['tool', 'workflow', 'pipe', 'task'] as const;

export type RunKind = (typeof RUN_KINDS)[number];

/** The name of a run as it is shown: `workflow:nightly`, `pipe:producer|consumer`, `task:codex`; that of a tool stands alone. */
export function runName(kind: RunKind, what: string): string {
  return kind === 'tool' ? what : `${kind}:${what}`;
}

/** The kind of run that a name stands for: in what a person writes, and in records and logs of builds that did not write the kind. */
export function kindOfName(name: string): RunKind {
  return RUN_KINDS.find((kind) => kind !== 'tool' && name.startsWith(`${kind}:`)) ?? 'tool';
}

/** A name without its kind: `nightly` for `workflow:nightly`. */
export function withoutKind(name: string): string {
  return name.slice(runName(kindOfName(name), '').length);
}

/** Whether runs of this kind run other runs, and no process of their own. */
export function isOrchestration(kind: RunKind): boolean {
  return kind === 'workflow' || kind === 'pipe';
}
