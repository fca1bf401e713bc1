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

const RUN_ID_CHARS = { least: 3, most: 65 };

/** Whether a text matches `RUN_ID_PATTERN`, which takes 0.1 ms to compile: most commands ask this. */
export function isRunId(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  const { length } = text;
  if (length < RUN_ID_CHARS.least || length > RUN_ID_CHARS.most || !text.startsWith('r-')) return false;
  for (let i = 2; i < length; i++) {
    const char = text[i]!;
    const isOk = (char >= '0' && char <= '9') || (char >= 'a' && char <= 'z') || (char === '-' && i > 2);
    if (!isOk) return false;
  }
  return true;
}

/** The format version of `metadata.json`. */
export const RUN_RECORD_VERSION = 1;

/** The life cycle of a run as data (contract §3): the allowed state transitions. All state changes follow it. */
export const RUN_STATES = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['waiting_ai', 'completed', 'failed', 'cancelled'],
  waiting_ai: ['running', 'failed', 'cancelled'],
  // `acor resume` and `acor retry` start the next attempt of the same run. Of a completed run, only a workflow's steps
  // may run again.
  completed: ['queued'],
  failed: ['queued'],
  cancelled: ['queued'],
} as const satisfies Record<string, readonly string[]>;

export type RunState = keyof typeof RUN_STATES;
export type FinalState = 'completed' | 'failed' | 'cancelled';

/** Whether the table allows this transition. */
export function mayFollow(from: RunState, to: RunState): boolean {
  return (RUN_STATES[from] as readonly string[]).includes(to);
}

/** Whether a run in this state has ended. */
export function isFinal(state: RunState): state is FinalState {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}

/** The caller of a run, in its record, as policies name it; null for the local user. */
export function recordedCaller({ kind, name }: { kind: string; name: string }): string | null {
  return kind === 'local-user' ? null : `${kind}:${name}`;
}

const CALLER_KINDS = ['agent', 'token', 'schedule'];

/** The callers in records that a filter means. A name alone is that of an agent, of a token, or in a record of an earlier build, which has no kind. */
export function callersMeant(given: string): string[] {
  const hasKind = CALLER_KINDS.some((kind) => given.startsWith(`${kind}:`));
  return hasKind ? [given] : [given, `agent:${given}`, `token:${given}`];
}

/** The caller of the runs of a schedule, in their records. */
export function callerOfSchedule(name: string): string {
  return `schedule:${name}`;
}

/** The name of the schedule that started a run, by the caller in its record. */
export function scheduleOfCaller(caller: string | null): string | undefined {
  return caller?.startsWith('schedule:') ? caller.slice('schedule:'.length) : undefined;
}

/** The file of a workflow's run, which is its first recorded argument. */
export function fileOfWorkflow({
  kind,
  given_args,
}: {
  kind: RunKind;
  given_args: readonly string[] | null;
}): string | undefined {
  return kind === 'workflow' ? given_args?.[0] : undefined;
}
