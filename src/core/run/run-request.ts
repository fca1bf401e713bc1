import type { RunKind } from '../../protocol/run-kind.ts';
import type { ToolEntry } from '../registry/registry.ts';
import type { AnswerHandler, PreparedAnswer } from './answers/questions.ts';
import type { RecordSource } from './records/record-reader.ts';

/** `resume` continues from the checkpoints of earlier attempts; `retry` starts over. */
export type RerunMode = 'resume' | 'retry';

/** How to continue an ended run. */
export interface Rerun {
  runId: string;
  mode: RerunMode;
  /** Continue although the effects of the stopped tool are unknown. */
  force?: boolean;
  /** Of a workflow: run this step and all that depend on it again, even completed ones. */
  from?: string;
}

/** The parent of a child run, and the task of the parent that the child executes. */
export interface RunParent {
  run_id: string;
  task_id: string;
}

/** Runs that share a limit on concurrent runs; the id is that of their common parent run. */
export interface RunGroup {
  id: string;
  maxRuns: number;
}

/** A caller's request to start a run. */
export interface RunRequest {
  kind: RunKind;
  /** The tool's name; for other kinds with a prefix, as in `workflow:nightly.yaml`. */
  tool: string;
  /** The tool, if the caller has already looked it up, so that discovery is not repeated. */
  found?: ToolEntry;
  args: string[];
  /** The folder against which relative path arguments are resolved. */
  cwd: string;
  /** The caller's environment; the tool gets only the listed variables. */
  env: Readonly<Record<string, string | undefined>>;
  timeoutS?: number;
  /** How often a retryable failure is retried. */
  retries?: number;
  readStdin?: () => string;
  /** Answers to questions that the tool is expected to ask. */
  answers?: readonly PreparedAnswer[];
  /** Called for questions without a prepared answer, when this process supervises the run. */
  onQuestion?: AnswerHandler;
  /** Makes this the next attempt of an ended run instead of a new run. */
  again?: Rerun;
  /** Repeating the same call with the same key returns the first run instead of starting a second one. */
  idempotencyKey?: string;
  /**
   * The run that this one repeats, for comparison. `outputs` lists the earlier run's outputs as `<input>/<name>`: they stay in the new
   * run's folder, because their targets exist.
   */
  replays?: { runId: string; outputs: readonly string[] };
  /** The token of the plan that a dry run showed to the caller. */
  planToken?: string;
  /** The calling agent, for the record. */
  caller?: string;
  /** In a pipe: the run whose records this one reads, and whether another run reads the records of this one. */
  reads?: RecordSource;
  isRead?: boolean;
  /** Set for the children of a workflow. */
  parent?: RunParent;
  /** All runs of a group together take at most its number of queue slots, whatever processes supervise them. */
  group?: RunGroup;
}
