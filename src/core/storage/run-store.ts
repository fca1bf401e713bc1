import type { RunRecord } from '../../protocol/run-record.ts';
import type { FinalState } from '../../protocol/run-state.ts';
import type { EventLog, RedactLine } from './event-log.ts';
import type { RunLayout } from './layout.ts';

/** What a run is when it begins; the store adds what it keeps account of. */
export type NewRun = Omit<RunRecord, 'version' | 'epoch'>;

/** The right to write one run, held by one supervisor at a time. */
export interface RunWriter {
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
  /** Makes the place of a new run and opens it for writing at epoch 1. */
  create(run: NewRun): RunWriter;
  /** Takes a run over: the next epoch begins, and the writer before it can write no more. */
  takeOver(runId: string): RunWriter;
  /** The record of a run. Throws E_RUN_NOT_FOUND. */
  read(runId: string): RunRecord;
  /** The ids of all runs, oldest first. */
  list(): string[];
  layout(runId: string): RunLayout;
}
