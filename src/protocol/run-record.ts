import * as z from 'zod';
import { RUN_KINDS, RUN_RECORD_VERSION, RUN_STATES, type RunState } from './run.ts';
import { runCost } from './run-cost.ts';
import { isolation, recordSource } from './v1/runner-events.ts';
import { WRITE_MODES } from './write-modes.ts';

const processIdentity = z.object({
  pid: z.int(),
  start_time: z.number().nullable(),
  boot_id: z.string().nullable(),
});

/** `metadata.json` of a run (contract §6): what it is, who started it, and its state. Times are RFC 3339 UTC. */
export const runRecord = z.object({
  version: z.literal(RUN_RECORD_VERSION),
  run_id: z.string(),
  /** Filled in on reading for records of builds that did not write it. */
  kind: z.enum(RUN_KINDS),
  /** The displayed name: `line_count`, `workflow:nightly`. */
  tool: z.string(),
  /** The name in the manifest of a file that runs by its path. */
  title: z.string().optional(),
  tool_version: z.string().nullable(),
  /** SHA-256 of the tool's manifest and entry, or of the workflow file, as they were at the start; null for a pipe. */
  tool_digest: z.string().nullable().default(null),
  /** SHA-256 of what was to be executed, of a run that was checked against a plan: a later attempt must execute the same. */
  plan_digest: z.string().optional(),
  /** The arguments that the tool got, with its outputs by their targets; values of secret inputs are masked. */
  args: z.array(z.string()),
  /** The arguments that the caller passed; null when they contain a secret. */
  given_args: z.array(z.string()).nullable(),
  cwd: z.string(),
  /** The folder of the project at the start: it may have been moved since. Absent in records of earlier builds. */
  project_root: z.string().optional(),
  state: z.enum(Object.keys(RUN_STATES) as [RunState, ...RunState[]]),
  attempt: z.int().min(1),
  epoch: z.int().min(1),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  timeout_s: z.number(),
  /** The time limit that the caller passed, before any ceiling; absent when the caller passed none. */
  given_timeout_s: z.number().optional(),
  code: z.string().nullable(),
  message: z.string().nullable(),
  rc: z.int().nullable(),
  signal: z.string().nullable(),
  /** The run was cancelled, and its tool reported its result before it stopped. Absent otherwise. */
  has_result: z.literal(true).optional(),
  events: z.int().nullable(),
  duration_s: z.number().nullable(),
  /** What the last attempt used; null until the run has ended, or when it was not measured. */
  usage: z
    .object({ cpu_s: z.number().nullable(), max_rss_bytes: z.int().nullable() })
    .nullable()
    .default(null),
  /** What the run cost by itself, in US dollars; null when it is unknown. `cost` says how it is known. */
  cost_usd: z.number().nullable().default(null),
  /** Null for a run that reports neither tokens nor a price. */
  cost: runCost.nullable().default(null),
  /** The part of the day's budget that the run may use; null without such a budget. */
  cost_limit_usd: z.number().nullable().default(null),
  trace_id: z.string(),
  span_id: z.string(),
  idempotent: z.boolean(),
  /** The caller's idempotency key, so that the run is started only once. */
  idempotency_key: z.string().nullable(),
  /** The run that this one replays, for a comparison; its outputs stay in its own folder. */
  replays: z.string().nullable(),
  supervisor: processIdentity,
  isolation,
  acor_version: z.string(),
  protocol_version: z.int(),
  /** How the caller wanted the run to write at least; null when the caller did not say. */
  writes: z.enum(WRITE_MODES).nullable().default(null),
  /** Who has started the run: `agent:<name>`, `token:<name>`, `schedule:<name>`; null for the local user. Records of earlier builds have the name alone. */
  caller: z.string().nullable(),
  /** Who has resumed or retried the run, as `caller`. Absent before the second attempt, and in records of earlier builds. */
  restarted_by: z.array(z.string().nullable()).optional(),
  /** In a pipe: what this run reads. */
  reads: recordSource.nullable().default(null),
  /** Whether the run has asked a question. Absent in records of earlier builds. */
  has_questions: z.boolean().optional(),
  /** The outputs that were staged, as `<input>/<file name>`. */
  staged: z.array(z.string()).default([]),
  /** The workflow or pipe run that this run is a part of. Absent in records of earlier builds. */
  parent: z.object({ run_id: z.string(), task_id: z.string() }).nullable().default(null),
});

export type RunRecord = z.output<typeof runRecord>;
