import * as z from 'zod';
import { RUN_KINDS, RUN_STATES, type RunState } from '../run.ts';
import { runCost } from '../run-cost.ts';
import { WRITE_MODES } from '../write-modes.ts';
import { message } from './envelope.ts';
import type { TASK_MESSAGES, TOOL_MESSAGES } from './tool-messages.ts';
import { ANSWER_SOURCES, type RunnerEventType } from './wire.ts';

const state = z.enum(Object.keys(RUN_STATES) as [RunState, ...RunState[]]);
const freeObject = z.record(z.string(), z.unknown());

/** The confinement of a run: what is enforced, and what the manifest requests that cannot be enforced. */
export const isolation = z.looseObject({
  backend: z.string(),
  tier: z.int(),
  enforced: z.array(z.string()),
  not_enforced: z.array(z.string()),
  limits: z
    .record(z.string(), z.string().nullable())
    .optional()
    .describe('What enforces each resource limit; null means no limit.'),
});

/**
 * The approval of a privileged tool: of which bytes, by whom, and when; `at` is null for an approval in a policy file.
 */
export const approval = z.looseObject({ digest: z.string(), by: z.string(), at: z.string().nullable() });

/** The run whose records a stage of a pipe reads, and how that run's log contains them. */
export const recordSource = z.object({ run_id: z.string(), form: z.enum(['lines', 'messages', 'records']) });

const runnerStart = message('runner_start', {
  tool: z.string(),
  /** The name in the manifest of a file that runs by its path. */
  title: z.string().optional(),
  /** Absent in logs of builds that did not write it. */
  kind: z.enum(RUN_KINDS).optional(),
  args: z.array(z.string()),
  /** What follows is absent in logs of builds that did not write it. */
  given_args: z
    .array(z.string())
    .nullable()
    .optional()
    .describe('The arguments that the caller passed; null when they contain a secret.'),
  writes: z.enum(WRITE_MODES).optional().describe('How the caller wanted the run to write at least.'),
  reads: recordSource.optional().describe('In a pipe: the run whose records this one reads.'),
  cwd: z.string().optional(),
  tool_version: z.string().nullable().optional(),
  tool_digest: z.string().nullable().optional(),
  attempt: z.int().min(1),
  timeout_s: z.number().positive(),
  isolation,
  approval: approval.optional(),
});

const runnerState = message('runner_state', {
  from: state.nullable(),
  to: state,
  reason: z.string().optional(),
});

const runnerLog = message('runner_log', { level: z.string(), msg: z.string() });

const runnerWarning = message('runner_warning', { code: z.string().optional(), msg: z.string() });

const runnerError = message('runner_error', {
  code: z.string(),
  msg: z.string(),
  hint: z.string().optional(),
  retryable: z.boolean().optional(),
});

/** A process that outlived the run. The list in `runner_end` is empty unless the kernel refused to kill one. */
const survivor = z.looseObject({ pid: z.int(), command: z.string() });

/** `sha256` of all bytes of the event log before this event; `marks` are prefix hashes that narrow down a change. */
export const seal = z.looseObject({
  bytes: z.int(),
  sha256: z.string(),
  marks: z.array(z.tuple([z.int(), z.string()])),
});

const runnerEnd = message('runner_end', {
  state: z.enum(['completed', 'failed', 'cancelled']),
  rc: z.int().nullable(),
  signal: z.string().nullable(),
  code: z.string().nullable(),
  /** What happened, as the record has it. Absent in logs of builds that did not write it. */
  message: z.string().nullable().optional(),
  /** Of a failed run: whether a retry may help. Absent in logs of builds that did not write it. */
  retryable: z.boolean().optional(),
  /** Of a failed run: how to fix it. Absent when nothing better than the hint of the error table is known, and in logs of builds that did not write it. */
  hint: z.string().optional(),
  /** Of a cancelled run: the user or agent who cancelled it. Absent when ACOR did, for the reason in `message`. */
  cancelled_by: z.string().optional(),
  duration_s: z.number(),
  usage: z.looseObject({ cpu_s: z.number().nullable(), max_rss_bytes: z.int().nullable() }),
  /** Absent for a run that reports neither tokens nor a price. */
  cost: runCost.optional(),
  events: z.int(),
  bytes: z.int(),
  artifacts: z.array(freeObject),
  survivors: z.array(survivor),
  next: z.array(z.string()),
  /** The messages of the first warnings of this supervisor, each once. Absent when there were none. */
  warnings: z.array(z.string()).optional(),
  attempt: z.int().min(1),
  /** Another process wrote the end, because the supervisor had died: the seal covers the events from then on. */
  late: z.literal(true).optional(),
  /** The run has lost its supervisor and was not recovered yet: this event is reported to a follower, is not in the log, and seals nothing. */
  lost: z.literal(true).optional(),
  seal,
});

export const diagnostic = message('diagnostic', { stream: z.literal('stderr'), line: z.string() });

const actionAnswered = message('action_answered', {
  action_id: z.string(),
  action: z.string(),
  answer: z.unknown(),
  by: z.string(),
  source: z.enum(ANSWER_SOURCES),
  reason: z.string().optional(),
});

/** A file or folder of the run, measured by the runner. `path` is absolute; `size` in bytes. */
export const artifact = message('artifact', {
  path: z.string(),
  kind: z.enum(['file', 'directory']),
  size: z.int(),
  sha256: z.string(),
  media_type: z.string(),
});

/** The types that only the runner writes (contract §1). A tool's line of such a type is rejected. */
export const RUNNER_EVENTS = {
  runner_start: runnerStart,
  runner_state: runnerState,
  runner_log: runnerLog,
  runner_warning: runnerWarning,
  runner_error: runnerError,
  runner_end: runnerEnd,
  diagnostic,
  action_answered: actionAnswered,
  artifact,
} as const satisfies Record<RunnerEventType, z.ZodType>;

export type RunnerStart = z.output<typeof runnerStart>;
export type RunnerEnd = z.output<typeof runnerEnd>;
export type ArtifactEvent = z.output<typeof artifact>;
export type Isolation = z.output<typeof isolation>;
export type Survivor = z.output<typeof survivor>;
export type Seal = z.output<typeof seal>;

type AllEvents = typeof TOOL_MESSAGES & typeof TASK_MESSAGES & typeof RUNNER_EVENTS;

/** An event of a run for a reader, discriminated by `type`. A tool may also write types that are unknown here. */
export type RunEvent = { [T in keyof AllEvents]: z.output<AllEvents[T]> & { seq: number } }[keyof AllEvents];
