import type { RunKind, RunState } from '../../protocol/run.ts';

/** A run in the index. */
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
  /** Of a workflow. */
  file?: string | undefined;
}

/** A query. A run must match all given criteria. */
export interface RunQuery {
  state?: RunState | undefined;
  tool?: string | undefined;
  kind?: RunKind | undefined;
  /** As recorded, or the name alone (`callersMeant`). */
  caller?: string | undefined;
  /** The id of the parent run; null for runs that are part of no other one. */
  parent?: string | null | undefined;
  /** Only runs whose ids begin with this text, and sort before this id. */
  prefix?: string | undefined;
  before?: string | undefined;
  /** Created at this time or later, in milliseconds since 1970; and before this time. */
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  /** A substring of the id, tool, arguments, code or message; case-insensitive. */
  text?: string | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  /** Newest first by default. */
  order?: 'newest' | 'oldest' | undefined;
}

/** One page of the found runs, and the total number. */
export interface FoundRuns {
  runs: IndexedRun[];
  total: number;
}

/** A question of a run, and its answer if it has one. */
export interface IndexedQuestion {
  asked: Readonly<Record<string, unknown>>;
  answered?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the run accepts an answer now. */
  isOpen: boolean;
  /** The child run that asked; absent when the run itself asked. */
  askedBy?: unknown;
}

export interface RunQuestions {
  run: IndexedRun;
  questions: IndexedQuestion[];
}

/** Durations that runs are counted by, in seconds. */
export const DURATION_BOUNDS_S: readonly number[] = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600];

/** How many runs of a tool ended in a state, and their totals. */
export interface EndCount {
  tool: string;
  state: RunState;
  runs: number;
  duration_s: number;
  /** How many of them took at most each of `DURATION_BOUNDS_S`. */
  within: number[];
  /** Processor time, and cost in US dollars, of the runs for which they are known; null when they are known for no run. */
  cpu_s: number | null;
  cost_usd: number | null;
}

/** Those that ended on one day (UTC). */
export interface RunCount extends EndCount {
  day: string;
}

/** What the runs of a tool cost on a day (UTC), by task and caller. Only runs that cost money or used tokens count. */
export interface CostCount {
  tool: string;
  /** The id of the task; null for other runs. */
  task: string | null;
  caller: string | null;
  day: string;
  runs: number;
  /** US dollars; null when no price is known. */
  cost_usd: number | null;
  /** How many of the runs used tokens whose price is unknown. */
  unpriced: number;
  input_tokens: number;
  cache_read_tokens: number;
  output_tokens: number;
}

/**
 * The port for queries over all runs. The index is derived from the runs: a missing or unreadable index is rebuilt, and `warning` reports
 * an unreadable one. Starting and ending runs do not use it. A reader updates it first, which costs in proportion to the changes and to
 * the runs that have not ended. Every implementation passes `test/contracts/run-index.ts`.
 */
export interface RunIndex {
  query(query: RunQuery): Promise<FoundRuns>;
  /** The runs that have not ended: live and lost ones. */
  unended(): Promise<IndexedRun[]>;
  /** The runs with questions, oldest first; with `isOpen`, only those that have an open question. */
  questions(options: { isOpen: boolean }): Promise<RunQuestions[]>;
  counts(): Promise<RunCount[]>;
  /** What ended runs have cost: on a day, or as children of a run; all of them without a filter. */
  costs(of?: { day?: string; parent?: string }): Promise<CostCount[]>;
  /** The runs that ended, were not removed, and are gone all the same: another program removed them from the store. Sorted. */
  missing(): Promise<string[]>;
  /** Why the index was rebuilt, or exists in memory only; undefined when it is in order. */
  readonly warning: string | undefined;
  close(): void;
}

export interface SourceChanges {
  /** The runs that ended or were removed. */
  runIds: string[];
  /** Those of them that were removed. */
  removed: string[];
  /** Of the runs from one id to another, some may be gone: a file that held them is. */
  doubtful?: IdRange[];
  position: string;
}

/** Both ids are part of the range. */
export interface IdRange {
  first: string;
  last: string;
}

/** The source of the runs from which an index is built. */
export interface RunSource {
  /** What changed after a position, up to a later one if it is given; undefined when the position is no longer valid. */
  changesAfter(position: string, upTo?: string): Promise<SourceChanges | undefined>;
  /** The current position: after all ended and removed runs. */
  position(): Promise<string>;
  /** All runs. */
  list(): Promise<string[]>;
  /** The runs that have not ended: live and lost ones. */
  unended(): Promise<string[]>;
  /** A run; undefined when it was removed or its record cannot be read. */
  read(runId: string): Promise<SourceRun | undefined>;
  /** Those of these runs that exist in the store. An index asks once for all runs that a query has found. */
  existing(runIds: readonly string[]): Promise<Set<string>>;
  /** The runs that ended, were not removed, and are gone all the same; or those of these runs that are. */
  missing(runIds?: readonly string[]): Promise<string[]>;
  questions(runId: string): Promise<IndexedQuestion[]>;
}

/** The cost of a run, as far as an index counts it. */
export interface IndexedCost
  extends Pick<CostCount, 'task' | 'input_tokens' | 'cache_read_tokens' | 'output_tokens'> {
  isUnpriced: boolean;
}

/** A run from its record, with the text that queries search. */
export interface SourceRun {
  run: IndexedRun;
  text: string;
  /** False when the run is known to have asked nothing. */
  mayHaveAsked: boolean;
  /** What the run used and cost; null when it is unknown. */
  cpu_s: number | null;
  cost_usd: number | null;
  /** Null for a run that cost nothing and used no tokens. */
  cost: IndexedCost | null;
}
