import type { CommandOf } from '../../protocol/next-step.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { FinalState } from '../../protocol/run-state.ts';
import type { Seal } from '../../protocol/v1/runner-events.ts';
import type { StoredEvent } from '../../protocol/v1/wire.ts';
import type { BlobStore } from './blob-store.ts';
import type { ControlChannel } from './control-channel.ts';
import type { Leases } from './lease.ts';
import type { RunObserver } from './run-observer.ts';

/** A run as it begins; the store adds what it keeps account of. */
export type NewRun = Omit<RunRecord, 'version' | 'epoch'>;

/** An idempotency key, and the digest of the call that it stands for: the same key for another call is a mistake. */
export interface KeyedCall {
  key: string;
  call: string;
}

/** An event before it is stored: the log fills in `v`, `ts`, `run_id` and `seq`. */
export type NewEvent = { type: string; [field: string]: unknown };

/** An event as it was read from a log, which may have been changed since it was written. */
export type ReadEvent = Readonly<Record<string, unknown>>;

/** Removes the secrets from a line that holds one JSON object. */
export type RedactLine = (line: Buffer) => Buffer;

/**
 * The event log of one run, for its one writer. `append` and `keepLine` only gather events, and store them at once when much is gathered
 * and the storage can do it; `flush` stores them in one batch of whole lines. Batches are stored in the order of the calls.
 */
export interface RunLog {
  /** How many events there are, which is the `seq` of the last one. */
  readonly events: number;
  readonly bytes: number;
  /** Whether events that were gathered were never stored. */
  readonly hasDropped: boolean;
  /** Gathers an event and returns it. */
  append(event: NewEvent): StoredEvent;
  /** Gathers `bytes[start..end)`, an object that ends with its brace and holds the whole envelope but `seq`, which the log adds. */
  keepLine(bytes: Uint8Array, start: number, end: number): void;
  /** Stores what was gathered until now. When that fails, the log is as it was before, and what was gathered is dropped. */
  flush(): Promise<void>;
  /** Stores what was gathered; when it resolves, all events are durable. */
  sync(): Promise<void>;
  /** Drops what was gathered, and the numbers that it had. */
  discardPending(): void;
  /** The seal over everything stored so far; await `flush` first. */
  seal(): Seal;
  /** From now on secrets are removed from the events that the runner itself writes; a tool's lines have lost them already. */
  redactWith(redact: RedactLine): void;
  /** From now on `observer` sees each stored batch. */
  observe(observer: RunObserver): void;
  /** The last stored events, the newest first; as `RunStore.tail`. */
  tail(): AsyncGenerator<ReadEvent>;
  /** Rejects, once, when another program has changed or removed the log; the ending can still be added to what is there. */
  assertUntouched(): Promise<void>;
}

/** The right to write one run, held by one supervisor at a time. Every write is refused once another one has taken the run over. */
export interface RunWriter {
  /** How the event log holds next steps: as exact commands. */
  readonly commandOf: CommandOf;
  readonly epoch: number;
  readonly record: RunRecord;
  readonly log: RunLog;
  /** From now on secrets are removed from the record and from the runner's events. */
  redactWith(redact: RedactLine): void;
  /** Changes `record` at once, and stores it atomically; `durable` waits until it survives a crash of the machine. */
  update(change: Partial<RunRecord>, options?: { durable?: boolean }): Promise<void>;
  /** The ending is in the log and on disk: adds the run's line to the ledger. */
  enterInLedger(ending: { state: FinalState; code: string | null }): Promise<void>;
  /** Whether the ledger holds the run with its log as it is now. */
  isInLedger(): Promise<boolean>;
  /** Frees the space that was put aside, so that an ending can be written to a full disk. */
  releaseReserve(): void;
  /** Ends the right to write, and with it the lease. A run that has not ended is lost from now on. */
  close(): Promise<void>;
}

/** How much is stored of a log. `events` is the `seq` of the last event; 0 for an empty log. */
export interface LogExtent {
  events: number;
  bytes: number;
}

export interface FollowOptions {
  /** Only events after this `seq`. */
  since?: number;
  /** False reads what is stored and returns. */
  wait: boolean;
  signal?: AbortSignal;
  /** Asked while waiting: true when the log has no writer any more. */
  isAbandoned?: () => boolean | Promise<boolean>;
  /** Settles when the writer is done. A `runner_end` that a tool has forged before that does not end the following. */
  ended?: Promise<unknown>;
}

/**
 * The port to where runs are kept: event log, record, idempotency keys, ledger. One writer a run; a write of a past epoch is
 * refused. Nothing here is a path. Every implementation passes `test/contracts/run-store.ts`.
 */
export interface RunStore {
  /** How event logs hold next steps: as exact commands. */
  readonly commandOf: CommandOf;
  readonly leases: Leases;
  readonly control: ControlChannel;
  /** The content of the artifacts. */
  readonly blobs: BlobStore;
  /** Where the runs are, for a person to read. */
  readonly location: string;
  /** Makes a new run and opens it for writing at epoch 1. */
  create(run: NewRun): Promise<RunWriter>;
  /**
   * Makes a new run like `create`, once for a key: for a key that has a run already, its id is returned instead.
   * Throws E_USAGE when the key stands for another call.
   */
  createOnce(run: NewRun, keyed: KeyedCall): Promise<RunWriter | string>;
  /** The run that was made with a key, if there is one. Throws as `createOnce` does. */
  runOfKey(keyed: KeyedCall): Promise<string | undefined>;
  /**
   * Takes a run over: the next epoch begins, and the writer before it can write no more. Throws E_STORAGE when the run has a live
   * supervisor. `mayTake` throws when the run is not to be taken as its record is now; then its supervisor writes on. With `recovers`,
   * readers see the run as lost until it has ended.
   */
  takeOver(
    runId: string,
    mayTake?: (record: RunRecord) => void,
    options?: { recovers?: boolean },
  ): Promise<RunWriter>;
  /** The record of a run. Throws E_RUN_NOT_FOUND. */
  read(runId: string): Promise<RunRecord>;
  /** The ids of all runs, oldest first: for what has to look at every run (rebuilding an index, verifying, cleaning). */
  list(): Promise<string[]>;
  /** How many events a log holds, and in how many bytes. A torn last line does not count. */
  extent(runId: string): Promise<LogExtent>;
  /** Removes a run that is over. Its key may start another one. */
  remove(runId: string): Promise<void>;
  /**
   * Reads a log from any `seq` on, as whole lines in batches of bytes, without a gap or a repeat, and ends with the event that ends the
   * run. Any number of readers may follow; none slows the writer down.
   */
  follow(runId: string, options: FollowOptions): AsyncGenerator<Uint8Array>;
  /** The last events of a log, the newest first; only so many as a bounded part of the log holds. A torn last line is left out. */
  tail(runId: string): AsyncGenerator<ReadEvent>;
  /** The events of a run that concern its questions, in order; the cost is that of their number, not of the log's length. */
  questionEvents(runId: string): Promise<ReadEvent[]>;
}
