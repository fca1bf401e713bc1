import { existsSync } from 'node:fs';
import type { CommandOf } from '../../protocol/next-steps.ts';
import { type FinalState, isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import type { RedactLine, RunWriter } from '../ports/run-store.ts';
import { EventLog } from './event-log.ts';
import type { FileLease } from './file-leases.ts';
import type { RunLayout } from './layout.ts';
import type { Ledger } from './ledger.ts';
import { QuestionFile } from './question-file.ts';
import { storageError } from './storage-error.ts';

/** Writes one run while it holds the lease, which it checks before each write. */
export class FileRunWriter implements RunWriter {
  readonly commandOf: CommandOf;
  readonly layout: RunLayout;
  readonly log: EventLog;
  readonly #lease: FileLease;
  readonly #ledger: Ledger;
  #record: RunRecord;
  /** Whether the stored record has a final state. */
  #hasEnded = false;
  #redact: RedactLine = (line) => line;

  constructor(
    layout: RunLayout,
    record: RunRecord,
    lease: FileLease,
    { ledger, commandOf }: { ledger: Ledger; commandOf: CommandOf },
  ) {
    this.commandOf = commandOf;
    this.layout = layout;
    this.#record = record;
    this.#lease = lease;
    this.#ledger = ledger;
    const hasAsked = record.has_questions === true;
    this.log = new EventLog(layout.events, record.run_id, {
      isSuperseded: () => !lease.isHeld(),
      questions: new QuestionFile(layout.questions, hasAsked, () => this.#noteQuestions()),
    });
    this.#hasEnded = isFinal(record.state);
  }

  /**
   * Stores the record of a new run. That of a run that was taken over changes with the first update: with the new epoch and still its final
   * state, it would look like the record of a supervisor that has just ended the run, and another process would take the run over as well.
   */
  storeNew(): void {
    try {
      this.#store();
    } catch (error) {
      this.log.close();
      throw error;
    }
  }

  get epoch(): number {
    return this.#record.epoch;
  }

  get record(): RunRecord {
    return this.#record;
  }

  redactWith(redact: RedactLine): void {
    this.#redact = redact;
    this.log.redactWith(redact);
  }

  async update(change: Partial<RunRecord>, options: { durable?: boolean } = {}): Promise<void> {
    this.#record = { ...this.#record, ...change };
    this.#store(options);
  }

  #store(options: { durable?: boolean } = {}): void {
    try {
      if (!this.#lease.isHeld()) throw new Error('another supervisor has taken over this run');
      const line = this.#redact(Buffer.from(`${JSON.stringify(this.#record)}\n`));
      writeAtomic(this.layout.metadata, line.toString('utf8'), options);
      this.#hasEnded = isFinal(this.#record.state);
    } catch (error) {
      throw storageError(error, 'write the record of the run', this.layout.metadata);
    }
  }

  async enterInLedger(ending: { state: FinalState; code: string | null }): Promise<void> {
    await this.#ledger.append({
      type: 'run',
      run_id: this.#record.run_id,
      tool: this.#record.tool,
      ...ending,
      attempt: this.#record.attempt,
      epoch: this.#record.epoch,
      events: this.log.events,
      events_sha256: this.log.seal().sha256,
    });
  }

  async isInLedger(): Promise<boolean> {
    return this.#ledger.has(this.#record.run_id, this.log.seal().sha256);
  }

  /** The workspaces are part of this store: their checkpoints stay where they are. */
  async keepCheckpoints(_folder: string): Promise<void> {}

  async restoreCheckpoints(_folder: string): Promise<void> {}

  releaseReserve(): void {
    this.#lease.releaseReserve();
  }

  /** Notes in the record that the run has questions. A failed write is ignored: the event is stored, and the next update writes the record. */
  #noteQuestions(): void {
    this.#record = { ...this.#record, has_questions: true };
    try {
      this.#store();
    } catch {}
  }

  async close(): Promise<void> {
    this.log.close();
    if (this.#hasEnded || !existsSync(this.layout.dir)) await this.#lease.release();
    else await this.#lease.abandon();
  }
}
