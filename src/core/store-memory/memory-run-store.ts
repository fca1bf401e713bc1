import { AcorError } from '../../protocol/acor-error.ts';
import type { CommandOf } from '../../protocol/next-steps.ts';
import { type FinalState, isFinal, isRunId, RUN_RECORD_VERSION } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { pause } from '../../util/pause.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { CostCount, EndCount } from '../ports/run-index.ts';
import type {
  FollowOptions,
  KeyedCall,
  LogExtent,
  NewRun,
  ReadEvent,
  RedactLine,
  RunStore,
  RunWriter,
} from '../ports/run-store.ts';
import { countOfRun } from '../store-files/cost-of-run.ts';
import { addCount, endCountOf } from '../store-files/end-count.ts';
import { concernsQuestions, isQuestion } from '../store-files/question-events.ts';
import { type CheckpointFile, keepFiles, restoreFiles } from './checkpoint-files.ts';
import { MemoryBlobStore } from './memory-blob-store.ts';
import { MemoryControlChannel } from './memory-control-channel.ts';
import { heldByAnother, type MemoryLease, MemoryLeases } from './memory-leases.ts';
import { MemoryRunLog, StoredLines, superseded } from './memory-run-log.ts';

const POLL_MS = 20;

/** How long a supervisor may take between the end that it records and the release of its lease. */
const MOST_ENDING_MS = 30_000;
const ENDING_POLL_MS = 5;

interface MemoryRun {
  record: RunRecord;
  stored: StoredLines;
  /** Undefined while none were kept. */
  checkpoints?: CheckpointFile[];
}

/** The end of a run in a ledger. */
interface EnteredEnd {
  runId: string;
  state: FinalState;
  sha256: string;
}

/** Runs within one process, for tests and for programs that keep no history. The workspaces of their tools are still folders (`core/run/workspace.ts`). */
export class MemoryRunStore implements RunStore {
  readonly leases = new MemoryLeases();
  readonly control = new MemoryControlChannel(this.leases);
  readonly blobs = new MemoryBlobStore();
  readonly commandOf: CommandOf;
  readonly location = 'this process';
  readonly #runs = new Map<string, MemoryRun>();
  readonly #keys = new Map<string, { runId: string; call: string }>();
  readonly #ended: EnteredEnd[] = [];
  readonly #removedCosts: CostCount[] = [];
  #removedCounts: EndCount[] = [];

  constructor(commandOf: CommandOf) {
    this.commandOf = commandOf;
  }

  async create(run: NewRun): Promise<RunWriter> {
    if (this.#runs.has(run.run_id)) throw heldByAnother(run.run_id);
    const record = { ...run, version: RUN_RECORD_VERSION, epoch: 1 } as RunRecord;
    const made = { record, stored: new StoredLines() };
    this.#runs.set(run.run_id, made);
    return new MemoryRunWriter(made, await this.leases.acquire(run.run_id, 1), this, this.#ended);
  }

  async createOnce(run: NewRun, keyed: KeyedCall): Promise<RunWriter | string> {
    const known = this.#runOf(keyed);
    if (known !== undefined) return known;
    this.#keys.set(keyed.key, { runId: run.run_id, call: keyed.call });
    return this.create(run);
  }

  async runOfKey(keyed: KeyedCall): Promise<string | undefined> {
    return this.#runOf(keyed);
  }

  async takeOver(
    runId: string,
    mayTake: (record: RunRecord) => void = () => {},
    { recovers = false }: { recovers?: boolean } = {},
  ): Promise<RunWriter> {
    const run = this.#find(runId);
    const latestMs = performance.now() + MOST_ENDING_MS;
    mayTake(run.record);
    let newest = await this.leases.newest(runId);
    while (newest !== undefined && newest.state !== 'lost') {
      const isEnding = isFinal(run.record.state) && newest.epoch === run.record.epoch;
      if (!isEnding || performance.now() > latestMs) throw heldByAnother(runId);
      await pause(ENDING_POLL_MS);
      newest = await this.leases.newest(runId);
    }
    const epoch = Math.max(run.record.epoch, newest?.epoch ?? 0) + 1;
    const lease = await this.leases.acquire(runId, epoch, {
      recovers,
      mayTake: async () => {
        if (run.record.epoch >= epoch) throw heldByAnother(runId);
        mayTake(run.record);
      },
    });
    return new MemoryRunWriter(run, lease, this, this.#ended);
  }

  async read(runId: string): Promise<RunRecord> {
    return { ...this.#find(runId).record };
  }

  async list(): Promise<string[]> {
    return [...this.#runs.keys()].sort();
  }

  async remove(runId: string): Promise<void> {
    const { record } = this.#find(runId);
    const { idempotency_key } = record;
    const cost = countOfRun(record);
    if (cost !== undefined) this.#removedCosts.push(cost);
    const count = endCountOf(record);
    if (count !== undefined) this.#removedCounts = addCount(this.#removedCounts, count);
    if (idempotency_key !== null) this.#keys.delete(idempotency_key);
    this.#runs.delete(runId);
    await this.leases.forget(runId);
  }

  async removedCosts(day?: string): Promise<CostCount[]> {
    return this.#removedCosts.filter((cost) => day === undefined || cost.day === day);
  }

  async removedCounts(): Promise<EndCount[]> {
    return this.#removedCounts;
  }

  async *follow(
    runId: string,
    { since = 0, wait, signal, isAbandoned, ended }: FollowOptions,
  ): AsyncGenerator<Uint8Array> {
    const { stored } = this.#find(runId);
    for (let at = since; ; ) {
      const lines = stored.lines.slice(at);
      if (lines.length > 0) {
        at += lines.length;
        yield Buffer.concat(lines);
        const [last] = stored.newestFirst();
        if (!wait || last?.type !== 'runner_end') continue;
        await ended?.catch(() => {});
        if (stored.lines.length <= at) return;
      } else {
        if (!wait || signal?.aborted) return;
        if ((await isAbandoned?.()) && stored.lines.length <= at) return;
        if (stored.lines.length <= at) await stored.more(POLL_MS);
      }
    }
  }

  async extent(runId: string): Promise<LogExtent> {
    return this.#find(runId).stored.extent();
  }

  /** Nothing in memory survives a loss of power. */
  async syncLog(runId: string): Promise<void> {
    this.#find(runId);
  }

  async *tail(runId: string, types?: readonly string[]): AsyncGenerator<ReadEvent> {
    for (const event of this.#find(runId).stored.newestFirst())
      if (types === undefined || types.includes(String(event.type))) yield event;
  }

  async questionEvents(runId: string): Promise<ReadEvent[]> {
    const events = this.#find(runId).stored.events();
    const first = events.findIndex(({ type }) => isQuestion(type));
    return first === -1 ? [] : events.slice(first).filter(({ type }) => concernsQuestions(String(type)));
  }

  #find(runId: string): MemoryRun {
    const run = isRunId(runId) ? this.#runs.get(runId) : undefined;
    if (run !== undefined) return run;
    throw new AcorError('E_RUN_NOT_FOUND', `run ${runId} not found in ${this.location}`);
  }

  #runOf({ key, call }: KeyedCall): string | undefined {
    const known = this.#keys.get(key);
    if (known === undefined || known.call === call) return known?.runId;
    throw new AcorError(
      'E_USAGE',
      `the idempotency key '${key}' belongs to another call: run ${known.runId}`,
      { details: { run_id: known.runId } },
    );
  }
}

class MemoryRunWriter implements RunWriter {
  readonly commandOf: CommandOf;
  readonly log: MemoryRunLog;
  readonly #run: MemoryRun;
  readonly #lease: MemoryLease;
  readonly #ended: EnteredEnd[];
  readonly #blobs: BlobStore;
  #redact: RedactLine = (line) => line;

  constructor(run: MemoryRun, lease: MemoryLease, store: MemoryRunStore, ended: EnteredEnd[]) {
    this.commandOf = store.commandOf;
    this.#run = run;
    this.#lease = lease;
    this.#ended = ended;
    this.#blobs = store.blobs;
    this.log = new MemoryRunLog(lease.runId, run.stored, () => lease.isHeld());
  }

  get epoch(): number {
    return this.#lease.epoch;
  }

  get record(): RunRecord {
    return this.#run.record;
  }

  redactWith(redact: RedactLine): void {
    this.#redact = redact;
    this.log.redactWith(redact);
  }

  async update(change: Partial<RunRecord>): Promise<void> {
    if (!this.#lease.isHeld()) throw superseded();
    const changed = { ...this.#run.record, ...change, epoch: this.#lease.epoch };
    this.#run.record = JSON.parse(this.#redact(Buffer.from(`${JSON.stringify(changed)}\n`)).toString('utf8'));
  }

  async enterInLedger({ state }: { state: FinalState }): Promise<void> {
    this.#ended.push({ runId: this.#lease.runId, state, sha256: this.log.seal().sha256 });
  }

  async isInLedger(): Promise<boolean> {
    const { sha256 } = this.log.seal();
    return this.#ended.some((end) => end.runId === this.#lease.runId && end.sha256 === sha256);
  }

  async keepCheckpoints(folder: string): Promise<void> {
    const files = await keepFiles(this.#blobs, this.#lease.runId, folder);
    if (!this.#lease.isHeld()) throw superseded();
    if (files !== undefined) this.#run.checkpoints = files;
  }

  async restoreCheckpoints(folder: string): Promise<void> {
    const { checkpoints } = this.#run;
    if (checkpoints !== undefined) await restoreFiles(this.#blobs, this.#lease.runId, folder, checkpoints);
  }

  releaseReserve(): void {}

  async close(): Promise<void> {
    if (isFinal(this.#run.record.state)) await this.#lease.release();
    else await this.#lease.abandon();
  }
}
