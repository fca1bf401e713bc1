import type { RunKind } from '../../protocol/run-kind.ts';
import type { ToolEntry } from '../registry/registry.ts';
import type { AnswerHandler, PreparedAnswer } from './answers/questions.ts';
import type { RecordSource } from './records/record-reader.ts';

/** `resume` continues from the checkpoints of earlier attempts; `retry` starts over. */
export type RerunMode = 'resume' | 'retry';

/** How an ended run continues. */
export interface Rerun {
  runId: string;
  mode: RerunMode;
  /** Continue although it is unknown what the stopped tool had already done. */
  force?: boolean;
  /** Of a workflow: run this step and all that depend on it again, even completed ones. */
  from?: string;
}

/** The run that another run is part of, and the task that it carries out there. */
export interface RunParent {
  run_id: string;
  task_id: string;
}

/** Runs that share a limit on concurrent runs; the id is that of the run that they are all part of. */
export interface RunGroup {
  id: string;
  maxRuns: number;
}

/** What a caller asks for. */
export interface RunRequest {
  kind: RunKind;
  /** The name of what to run, with its kind, as in `workflow:nightly.yaml`. */
  tool: string;
  /** The tool, if the caller has looked it up for this request: discovery is not repeated. */
  found?: ToolEntry;
  args: string[];
  /** Path arguments are resolved against it. */
  cwd: string;
  /** The caller's environment; only what is listed reaches the tool. */
  env: Readonly<Record<string, string | undefined>>;
  timeoutS?: number;
  /** How often a retryable failure is retried. */
  retries?: number;
  readStdin?: () => string;
  /** Answers to questions that the tool is expected to ask. */
  answers?: readonly PreparedAnswer[];
  /** Asked for answers that are not prepared; only where this process supervises the run. */
  onQuestion?: AnswerHandler;
  /** Makes this the next attempt of an ended run instead of a new run. */
  again?: Rerun;
  /** Repeating the same call with the same key returns the first run instead of starting a second one. */
  idempotencyKey?: string;
  /**
   * The run that this one repeats, to compare the two. Outputs stay in the new run's folder, because their targets exist by now;
   * those of the earlier run are named `<input>/<name>`.
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
  /** All runs of a group together take at most its number of queue slots, whoever supervises them. */
  group?: RunGroup;
}
