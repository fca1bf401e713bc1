import type { RunKind } from '../../protocol/run-kind.ts';
import type { RunState } from '../../protocol/run-state.ts';

/** A run as the index has it. */
export interface IndexedRun {
  run_id: string;
  tool: string;
  kind: RunKind;
  state: RunState;
  code: string | null;
  message: string | null;
  attempt: number;
  caller: string | null;
  parent: { run_id: string; task_id: string } | null;
  created_at: string;
  ended_at: string | null;
  duration_s: number | null;
}

/** What runs to find: those for which everything that is given holds. */
export interface RunQuery {
  state?: RunState | undefined;
  tool?: string | undefined;
  kind?: RunKind | undefined;
  caller?: string | undefined;
  /** The run that they are parts of. */
  parent?: string | undefined;
  /** Only runs whose ids begin with this text, and sort before this id. */
  prefix?: string | undefined;
  before?: string | undefined;
  /** Made at this time or later, in milliseconds since 1970; and before this time. */
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  /** A part of the id, the tool, the arguments, the code or the message, in any case of letters. */
  text?: string | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  /** The newest first unless said otherwise. */
  order?: 'newest' | 'oldest' | undefined;
}

/** One page of what a query found, and how many there are in all. */
export interface FoundRuns {
  runs: IndexedRun[];
  total: number;
}

/** A question of a run, and its answer if it has one. */
export interface IndexedQuestion {
  asked: Readonly<Record<string, unknown>>;
  answered?: Readonly<Record<string, unknown>> | undefined;
  /** Whether an answer would be taken now. */
  isOpen: boolean;
  /** Which child has asked; left out for the run itself. */
  askedBy?: unknown;
}

export interface RunQuestions {
  run: IndexedRun;
  questions: IndexedQuestion[];
}

/** How many runs of a tool ended in a state on a day (UTC), and how long they took together. */
export interface RunCount {
  tool: string;
  day: string;
  state: RunState;
  runs: number;
  duration_s: number;
}

/**
 * The port to looking through all runs. An index is derived: one that is missing is made again from the runs, one that cannot be read as
 * well, which `warning` reports. Runs are started and ended without it; whoever asks brings it up to date first, at the cost of what changed
 * and of the runs that have not ended. Every implementation passes `test/contracts/run-index.ts`.
 */
export interface RunIndex {
  query(query: RunQuery): Promise<FoundRuns>;
  /** The runs that have not ended: live ones and those that have lost their supervisor. */
  unended(): Promise<IndexedRun[]>;
  /** The runs with questions, the oldest first; with `isOpen`, only those that have an open one. */
  questions(options: { isOpen: boolean }): Promise<RunQuestions[]>;
  counts(): Promise<RunCount[]>;
  /** Why the index had to be made again, or is kept in memory only; undefined when nothing is wrong. */
  readonly warning: string | undefined;
  close(): void;
}

/** Where the runs are that an index is made from. */
export interface RunSource {
  /** The runs that ended or were removed after a position, and the position after them; undefined when that position is not known any more. */
  changesAfter(position: string): Promise<{ runIds: string[]; position: string } | undefined>;
  /** The position after all that has ended. */
  position(): Promise<string>;
  /** All runs. */
  list(): Promise<string[]>;
  /** The runs that are supervised, or have lost their supervisor. */
  unended(): Promise<string[]>;
  /** A run; undefined when it is gone or its record cannot be read. */
  read(runId: string): Promise<SourceRun | undefined>;
  /** False for a run that was removed, by whatever means. */
  has(runId: string): boolean;
  questions(runId: string): Promise<IndexedQuestion[]>;
}

/** A run as its record has it, and the text in which a query looks. */
export interface SourceRun {
  run: IndexedRun;
  text: string;
  /** False when the run is known to have asked nothing. */
  mayHaveAsked: boolean;
}
