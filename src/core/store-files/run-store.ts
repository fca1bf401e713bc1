import type { CommandOf } from '../../protocol/next-step.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { FinalState } from '../../protocol/run-state.ts';
import type { EventLog, RedactLine } from './event-log.ts';
import type { KeyedCall } from './idempotency-keys.ts';
import type { RunLayout } from './layout.ts';

/** What a run is when it begins; the store adds what it keeps account of. */
export type NewRun = Omit<RunRecord, 'version' | 'epoch'>;

/** The right to write one run, held by one supervisor at a time. */
export interface RunWriter {
  /** How the event log holds next steps: as exact commands. */
  readonly commandOf: CommandOf;
  readonly layout: RunLayout;
  readonly epoch: number;
  readonly record: RunRecord;
  readonly log: EventLog;
  /** From now on secrets are taken out of the record and of the runner's events. */
  redactWith(redact: RedactLine): void;
  /** Changes the record and puts it in place, atomically; `durable` waits for the disk. */
  update(change: Partial<RunRecord>, options?: { durable?: boolean }): void;
  /** The ending is in the log and on disk: adds the run's line to the ledger. */
  enterInLedger(ending: { state: FinalState; code: string | null }): Promise<void>;
  /** Whether the run is in the ledger as it stands. */
  isInLedger(): boolean;
  /** Frees the space that was put aside, so that an ending can be written to a full disk. */
  releaseReserve(): void;
  close(): void;
}

/**
 * The port to where runs are kept (architecture, "two ports"): the event log, the answers, the record. Files today.
 * One writer a run; a write whose epoch is past is refused. Every implementation passes `test/contracts/run-store.ts`.
 */
export interface RunStore {
  readonly root: string;
  /** How event logs hold next steps: as exact commands. */
  readonly commandOf: CommandOf;
  /** Makes the place of a new run and opens it for writing at epoch 1. */
  create(run: NewRun): RunWriter;
  /**
   * Makes the place of a new run like `create`, once for a key: for a key that has a run already, its id is returned instead.
   * Throws E_USAGE when the key stands for another call.
   */
  createOnce(run: NewRun, keyed: KeyedCall): Promise<RunWriter | string>;
  /** The run that was made with a key, if there is one. Throws as `createOnce` does. */
  runOfKey(keyed: KeyedCall): string | undefined;
  /** A run was removed: its key may start another one. */
  forgetKey(key: string, runId: string): Promise<void>;
  /**
   * Takes a run over: the next epoch begins, and the writer before it can write no more. `mayTake` throws when the run is not to be
   * taken as its record stands now: nobody is put out of work then.
   */
  takeOver(runId: string, mayTake?: (record: RunRecord) => void): RunWriter;
  /** The record of a run. Throws E_RUN_NOT_FOUND. */
  read(runId: string): RunRecord;
  /** The ids of all runs, oldest first. */
  list(): string[];
  layout(runId: string): RunLayout;
}
