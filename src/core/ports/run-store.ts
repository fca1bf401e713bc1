import type { CommandOf } from '../../protocol/next-steps.ts';
import type { FinalState } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { Seal } from '../../protocol/v1/runner-events.ts';
import type { StoredEvent } from '../../protocol/v1/wire.ts';
import type { BlobStore } from './blob-store.ts';
import type { ControlChannel } from './control-channel.ts';
import type { Leases } from './lease.ts';
import type { CostCount, EndCount } from './run-index.ts';
import type { RunObserver } from './run-observer.ts';

/** The record of a new run without the fields that the store adds. */
export type NewRun = Omit<RunRecord, 'version' | 'epoch'>;

/** An idempotency key, and the digest of its call: using the key for another call is an error. */
export interface KeyedCall {
  key: string;
  call: string;
}

/** An event before it is stored: the log adds `v`, `ts`, `run_id` and `seq`. */
export type NewEvent = { type: string; [field: string]: unknown };

/** An event from a log, which another program may have changed. */
export type ReadEvent = Readonly<Record<string, unknown>>;

/** Redacts the secrets in a line that is one JSON object. */
export type RedactLine = (line: Buffer) => Buffer;

/**
 * The event log of one run, for its only writer. `append`, `keepLine` and `keepLines` buffer events (a store may write a full buffer at once); `flush`
 * stores them in one batch of whole lines. Batches are stored in the order of the calls.
 */
export interface RunLog {
  /** The number of events, which is the `seq` of the last one. */
  readonly events: number;
  readonly bytes: number;
  /** Whether buffered events were dropped. */
  readonly hasDropped: boolean;
  /** The messages of the first warnings that this writer has appended, each once. */
  readonly warnings: readonly string[];
  /** Buffers an event and returns it. */
  append(event: NewEvent): StoredEvent;
  /** Buffers `bytes[start..end)`, a JSON object up to its closing brace with the whole envelope except `seq`, which the log adds. */
  keepLine(bytes: Uint8Array, start: number, end: number): void;
  /** Buffers `count` whole lines, each a JSON object with the whole envelope; their `seq` goes on from `events`. */
  keepLines(lines: Uint8Array, count: number): void;
  /** Stores the buffered events. When that fails, the log is unchanged and the buffered events are dropped. */
  flush(): Promise<void>;
  /** Stores the buffered events; all events are durable when it resolves. */
  sync(): Promise<void>;
  /** Drops the buffered events; their `seq` numbers are used again. */
  discardPending(): void;
  /** The seal over everything stored so far; await `flush` first. */
  seal(): Seal;
  /** Redacts the runner's own events from now on; a tool's lines are already redacted. */
  redactWith(redact: RedactLine): void;
  /** Calls `observer` for each batch that is stored from now on. */
  observe(observer: RunObserver): void;
  /** The last stored events, newest first, like `RunStore.tail`. */
  tail(): AsyncGenerator<ReadEvent>;
  /** Rejects, once, when another program has changed or removed the log. Later writes append to the log as it is. */
  assertUntouched(): Promise<void>;
}

/** The right to write one run. One supervisor has it at a time; every write is refused once another supervisor has taken the run over. */
export interface RunWriter {
  /** Renders a next step as the exact command that the event log stores. */
  readonly commandOf: CommandOf;
  readonly epoch: number;
  readonly record: RunRecord;
  readonly log: RunLog;
  /** Redacts the record and the runner's events from now on. */
  redactWith(redact: RedactLine): void;
  /** Changes `record` at once, and stores it atomically; `durable` waits until it survives a crash of the machine. */
  update(change: Partial<RunRecord>, options?: { durable?: boolean }): Promise<void>;
  /** Adds the run's line to the ledger. Call it once the end is durable in the log. */
  enterInLedger(ending: { state: FinalState; code: string | null }): Promise<void>;
  /** Whether the ledger has a line for the run with the present hash of its log. */
  isInLedger(): Promise<boolean>;
  /**
   * Keeps the files in the folder of checkpoints, in place of those kept before, for a resume on a machine without the run's workspace.
   * Without effect when this machine has no such folder. A store on the disk that holds the workspaces has them already.
   */
  keepCheckpoints(folder: string): Promise<void>;
  /** Makes the folder hold the checkpoints that were kept last; it stays as it is when none were ever kept. */
  restoreCheckpoints(folder: string): Promise<void>;
  /** Frees the reserved space, so that the end can be written on a full disk. */
  releaseReserve(): void;
  /** Gives up the right to write, and the lease. A run that has not ended is then lost. */
  close(): Promise<void>;
}

/** The stored size of a log. `events` is the `seq` of the last event; 0 for an empty log. */
export interface LogExtent {
  events: number;
  bytes: number;
}

export interface FollowOptions {
  /** Only events after this `seq`. */
  since?: number;
  /** False returns after the last stored event. */
  wait: boolean;
  signal?: AbortSignal;
  /** Called while waiting; return true when the log has no writer any more. */
  isAbandoned?: () => boolean | Promise<boolean>;
  /** Settles when the writer is done. A `runner_end` that a tool forged before that does not end the follow. */
  ended?: Promise<unknown>;
  /** Settles when the end of the run is stored: a reader that waits looks at once, also where the system has not reported the change. */
  recorded?: Promise<unknown>;
  /** A batch is only valid until the next one is asked for. A store may then read much at once into memory that it uses again. */
  reusesBuffers?: boolean;
  /** Calls `changed` after each write, for a reader in the process of the writer: it needs no watch by the system. */
  changes?: (changed: () => void) => void;
}

/**
 * The port to the storage of runs: event log, record, idempotency keys, ledger. Each run has one writer, and a write of a past epoch is
 * refused. The port exposes no paths. Every implementation passes `test/contracts/run-store.ts`.
 */
export interface RunStore {
  /** Renders a next step as the exact command that event logs store. */
  readonly commandOf: CommandOf;
  readonly leases: Leases;
  readonly control: ControlChannel;
  /** The content of the artifacts. */
  readonly blobs: BlobStore;
  /** Where the runs are stored, for display. */
  readonly location: string;
  /** Creates a run and opens it for writing at epoch 1. */
  create(run: NewRun): Promise<RunWriter>;
  /**
   * Creates a run like `create`, but once for a key: returns the id of the existing run when the key has one. Throws E_USAGE when the
   * key belongs to another call, with the run of that call in `details.run_id`.
   */
  createOnce(run: NewRun, keyed: KeyedCall): Promise<RunWriter | string>;
  /** The run of a key; undefined when it has none. Throws like `createOnce`. */
  runOfKey(keyed: KeyedCall): Promise<string | undefined>;
  /**
   * Takes a run over: claims the next epoch, which fences the previous writer. Throws E_STORAGE when the run has a live supervisor.
   * A supervisor that has recorded the end and still holds its lease removes files of the run; this waits for its release. `mayTake` gets the current record and throws to refuse; then the previous writer stays valid. With `recovers`, readers see the run as
   * lost until it has ended.
   */
  takeOver(
    runId: string,
    mayTake?: (record: RunRecord) => void,
    options?: { recovers?: boolean },
  ): Promise<RunWriter>;
  /** The record of a run. Throws E_RUN_NOT_FOUND. */
  read(runId: string): Promise<RunRecord>;
  /** The ids of all runs, oldest first: for work on every run (rebuilding an index, verifying, cleaning). */
  list(): Promise<string[]>;
  /** The number of events and of bytes in a log. A torn last line does not count. */
  extent(runId: string): Promise<LogExtent>;
  /**
   * Returns once everything that a reader of the log can read now survives a loss of power. Throws E_STORAGE. Readers see an event before
   * its writer has synced it: call this before you acknowledge one.
   */
  syncLog(runId: string): Promise<void>;
  /** Removes an ended run. Its key may then start another run. */
  remove(runId: string): Promise<void>;
  /** What removed runs have cost, which still counts for budgets: on a day (UTC), or in all. */
  removedCosts(day?: string): Promise<CostCount[]>;
  /** How many removed runs had ended, by tool and state: counters over all runs do not fall. */
  removedCounts(): Promise<EndCount[]>;
  /**
   * Reads a log from a `seq` on, as whole lines in batches of bytes, without gaps or repeats, up to the event that ends the run. Any
   * number of readers may follow, and none of them slows the writer down.
   */
  follow(runId: string, options: FollowOptions): AsyncGenerator<Uint8Array>;
  /**
   * The events in a bounded part at the end of a log, newest first. With `types`, only events of these types: the others are not parsed.
   * A torn last line is skipped.
   */
  tail(runId: string, types?: readonly string[]): AsyncGenerator<ReadEvent>;
  /** The question events of a run, in order. The cost depends on their number, not on the length of the log. */
  questionEvents(runId: string): Promise<ReadEvent[]>;
}
