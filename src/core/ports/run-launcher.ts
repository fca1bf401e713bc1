import type { RunKind } from '../../protocol/run.ts';
import type { WriteMode } from '../../protocol/write-modes.ts';

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

/** An answer that is known before the question: from the caller, or from a rule of the configuration. */
export interface PreparedAnswer {
  /** The action, or the action id. */
  action: string;
  answer: unknown;
  by: string;
  source: 'beforehand' | 'policy' | 'library';
  reason?: string;
}

/** How the records of a run are read from its events: each output line is one; each `log` message with data, else the data of the result; or these messages alone. */
export type RecordForm = 'lines' | 'messages' | 'records';

/** The run whose records another run reads from its standard input. */
export interface RecordSource {
  run_id: string;
  form: RecordForm;
}

/** What a caller asks for. It is JSON: it crosses to the process or the machine that supervises the run. */
export interface LaunchRequest {
  kind: RunKind;
  /** The name of what to run, with its kind, as in `workflow:nightly.yaml`. */
  tool: string;
  args: string[];
  /** Path arguments are resolved against it. */
  cwd: string;
  /** The variables of the caller that the run may use: those that its tools may get, and those that its supervisor reads. */
  env: Readonly<Record<string, string | undefined>>;
  /** What the caller has on its standard input, when the tool reads it. */
  stdin?: string;
  /** The standard input of the program, in base64, when the caller grants it its own. */
  input?: string;
  timeoutS?: number;
  /** The most that the run may cost, in US dollars; its configuration may allow less. */
  maxCostUsd?: number;
  /** How often a retryable failure is retried. */
  retries?: number;
  /** How the run writes at least; its manifest and the configuration may ask for more. */
  writes?: WriteMode;
  /** Answers to questions that the tool is expected to ask. */
  answers?: readonly PreparedAnswer[];
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
  /** All runs of a group together take at most its number of queue slots, whichever process supervises them. */
  group?: RunGroup;
}

/**
 * The port to who supervises a run: a process, one of a pool, a worker that takes requests from a queue. Every implementation passes
 * `test/contracts/run-launcher.ts`.
 */
export interface RunLauncher {
  /**
   * Starts a run and returns its id once it has begun, or that of the run that was started with the same idempotency key. The run
   * continues when the caller is gone. Throws an AcorError for what kept it from beginning.
   */
  start(request: LaunchRequest): Promise<string>;
  /**
   * Settles when the end of a run that this launcher has started is in the store, or when nothing supervises the run any more. Undefined where
   * no supervisor reports it: the caller watches the store, which takes longer.
   */
  recorded(runId: string): Promise<void> | undefined;
  /** The caller has seen the end of a run that it has started: what supervises it, and may still tidy up, can be given the next one. */
  ended(runId: string): void;
  /** Nothing more is started. Runs that were started continue. */
  close(): void;
}
