import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { CommandOf } from '../../protocol/next-steps.ts';
import { isFinal, isOrchestration, kindOfName, RUN_RECORD_VERSION } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { pause } from '../../util/pause.ts';
import { refuseLinks } from '../../util/regular-file.ts';
import type { CostCount, EndCount } from '../ports/run-index.ts';
import type {
  FollowOptions,
  KeyedCall,
  LogExtent,
  NewRun,
  ReadEvent,
  RunStore,
  RunWriter,
} from '../ports/run-store.ts';
import { FileBlobStore } from './file-blob-store.ts';
import { FileControlChannel } from './file-control-channel.ts';
import { FileLeases, HeldByAnother } from './file-leases.ts';
import { FileRunWriter } from './file-run-writer.ts';
import { followEvents } from './follow.ts';
import type { IdempotencyKeys, KeyOfRun } from './idempotency-keys.ts';
import {
  CONTROL,
  EVENTS,
  layoutOf,
  METADATA,
  QUESTIONS,
  type RunLayout,
  refuseLinkedFolders,
} from './layout.ts';
import { Ledger } from './ledger.ts';
import { readQuestionEvents } from './question-file.ts';
import { bytesOf, type ReadableFile } from './readable-file.ts';
import { RunFiles } from './run-files.ts';
import { logMissing, runNotFound } from './run-not-found.ts';
import { storageError } from './storage-error.ts';
import { extentOf, tailOf } from './tail.ts';

/** How long a supervisor may take between the end that it records and the release of its lease. */
const MOST_ENDING_MS = 30_000;
const ENDING_POLL_MS = 5;
/** The folders of a run in which ACOR itself writes. */
const OWN_FOLDERS = ['', CONTROL, join(CONTROL, 'tool'), 'logs', 'kept'];

/** Runs as folders under `.runs/`, readable with `cat` and `jq`; old ones in packs, which only ACOR reads. */
export class FileRunStore implements RunStore {
  readonly root: string;
  readonly leases: FileLeases;
  readonly control: FileControlChannel;
  readonly files: RunFiles;
  readonly blobs: FileBlobStore;
  readonly commandOf: CommandOf;

  /** `commandOf` renders the next steps in events. */
  constructor(root: string, commandOf: CommandOf) {
    this.root = root;
    this.leases = new FileLeases(root);
    this.control = new FileControlChannel(root, this.leases);
    this.commandOf = commandOf;
    this.files = new RunFiles(root);
    this.blobs = new FileBlobStore(this.files);
  }

  get location(): string {
    return this.root;
  }

  async create(run: NewRun): Promise<RunWriter> {
    this.#prepareRoot();
    return this.#createIn(run);
  }

  async #createIn(run: NewRun): Promise<RunWriter> {
    const layout = this.layout(run.run_id);
    // The lease comes first: a run that has not ended and has no lease is lost.
    const lease = await this.leases.acquire(run.run_id, 1);
    try {
      mkdirSync(layout.dir, { mode: 0o700 });
    } catch (error) {
      await lease.release();
      throw storageError(error, 'create the folder of the run', layout.dir);
    }
    try {
      const record = { ...run, version: RUN_RECORD_VERSION, epoch: 1, has_questions: false };
      const writer = new FileRunWriter(layout, record as RunRecord, lease, this.#writing());
      writer.storeNew();
      return writer;
    } catch (error) {
      // Remove what was created of a run that did not start. A process that may open no file leaves it, as a killed one does.
      try {
        rmSync(layout.dir, { recursive: true, force: true });
      } catch {}
      await lease.release();
      throw storageError(error, 'create the run', layout.dir);
    }
  }

  async createOnce(run: NewRun, keyed: KeyedCall): Promise<RunWriter | string> {
    this.#prepareRoot();
    return (await this.#keys()).once(keyed, run.run_id, () => this.#createIn(run));
  }

  async runOfKey(keyed: KeyedCall): Promise<string | undefined> {
    return (await this.#keys()).runOf(keyed);
  }

  async takeOver(
    runId: string,
    mayTake: (record: RunRecord) => void = () => {},
    { recovers = false }: { recovers?: boolean } = {},
  ): Promise<RunWriter> {
    const layout = this.layout(runId);
    this.#refuseLinkedFolders(layout);
    const latestMs = performance.now() + MOST_ENDING_MS;
    for (;;) {
      const recorded = await this.read(runId);
      mayTake(recorded);
      const newest = await this.leases.newest(runId);
      if (newest !== undefined && newest.state !== 'lost') {
        // After a supervisor has recorded the end, it removes files of the run, and only then releases its lease.
        const isEnding = isFinal(recorded.state) && newest.epoch === recorded.epoch;
        if (!isEnding || performance.now() > latestMs) throw new HeldByAnother(runId, newest.state);
        await pause(ENDING_POLL_MS);
        continue;
      }
      const epoch = Math.max(recorded.epoch, newest?.epoch ?? 0) + 1;
      const writer = await this.#takeEpoch(layout, runId, epoch, { mayTake, recovers });
      if (writer !== undefined) return writer;
    }
  }

  async read(runId: string): Promise<RunRecord> {
    return this.readNow(runId);
  }

  /** `read` without a promise, for code of this store that reads many runs. */
  readNow(runId: string): RunRecord {
    const record = this.findNow(runId);
    if (record === undefined) throw runNotFound(runId, this);
    return record;
  }

  /** Undefined for a run without a record, at the cost of looking for one file: `readNow` looks through the store for the reason. */
  findNow(runId: string): RunRecord | undefined {
    using file = this.#open(runId, METADATA, 'read the record of the run');
    if (file === undefined) return undefined;
    const text = bytesOf(file).toString('utf8');
    try {
      const record: RunRecord = JSON.parse(text);
      // Earlier builds recorded the kind as a prefix of the name, and no staged outputs.
      if (record.run_id === runId && typeof record.state === 'string')
        return { ...record, kind: record.kind ?? kindOfName(record.tool), staged: record.staged ?? [] };
      throw new TypeError('it is not the record of this run');
    } catch (error) {
      throw new AcorError('E_INTEGRITY', `the record of run ${runId} is invalid: ${file.location}`, {
        hint: 'Another program changed the file. The events of the run are in events.jsonl beside it.',
        cause: error,
      });
    }
  }

  async list(): Promise<string[]> {
    return this.listNow();
  }

  listNow(): string[] {
    return this.files.list();
  }

  async remove(runId: string): Promise<void> {
    await this.read(runId);
    const { removeRuns } = await import('./retention.ts');
    await removeRuns(this, [runId]);
  }

  async removedCosts(day?: string): Promise<CostCount[]> {
    const { removedCosts } = await import('./removed-costs.ts');
    return removedCosts(this.root, (runId) => this.files.has(runId), day);
  }

  async removedCounts(): Promise<EndCount[]> {
    const { removedCounts } = await import('./removed-counts.ts');
    return removedCounts(this.root, (runId) => this.files.has(runId));
  }

  /** Releases the idempotency keys of removed runs, so that they may start other runs. */
  async forgetKeys(runs: readonly KeyOfRun[]): Promise<void> {
    if (runs.length > 0) await (await this.#keys()).forget(runs);
  }

  async forgetPackedKeys(runs: readonly KeyOfRun[]): Promise<void> {
    if (runs.length > 0) await (await this.#keys()).forgetPacked(runs);
  }

  async packKeys(runs: readonly KeyOfRun[]): Promise<void> {
    if (runs.length > 0) await (await this.#keys()).pack(runs);
  }

  /** Loaded late, because most runs have no key. */
  async #keys(): Promise<IdempotencyKeys> {
    const { IdempotencyKeys } = await import('./idempotency-keys.ts');
    return new IdempotencyKeys(this.root, (runId) => {
      if (this.files.has(runId)) return true;
      // Another program removed the run: its key must not start the call a second time.
      const error = runNotFound(runId, this);
      if (error.code === 'E_INTEGRITY') throw error;
      return false;
    });
  }

  async *follow(runId: string, options: FollowOptions): AsyncGenerator<Uint8Array> {
    using log = this.openLog(runId);
    yield* followEvents(log, options);
  }

  async extent(runId: string): Promise<LogExtent> {
    using log = this.openLog(runId);
    return extentOf(log);
  }

  async syncLog(runId: string): Promise<void> {
    using log = this.openLog(runId);
    try {
      log.sync();
    } catch (error) {
      throw storageError(error, 'sync the event log', log.location);
    }
  }

  async *tail(runId: string, types?: readonly string[]): AsyncGenerator<ReadEvent> {
    using log = this.openLog(runId);
    yield* tailOf(log, types);
  }

  async questionEvents(runId: string): Promise<ReadEvent[]> {
    const { has_questions: hasAsked } = await this.read(runId);
    using questions = this.#open(runId, QUESTIONS, 'read the questions of the run');
    using log = this.openLog(runId);
    return readQuestionEvents(questions, log, hasAsked);
  }

  /** Opens the event log of a run. Throws E_INTEGRITY when only the log is gone. */
  openLog(runId: string): ReadableFile {
    const log = this.logIfThere(runId);
    if (log !== undefined) return log;
    this.readNow(runId);
    throw logMissing(runId, this.layout(runId).events);
  }

  logIfThere(runId: string): ReadableFile | undefined {
    return this.#open(runId, EVENTS, 'read the event log');
  }

  layout(runId: string): RunLayout {
    return layoutOf(this.root, runId);
  }

  /** Makes the folders of a packed run and of its steps again: a resumed workflow uses the files of its steps by their paths. */
  async #unpack({ run_id }: RunRecord, { withSteps }: { withSteps: boolean }): Promise<void> {
    if (!this.files.packed.exist) return;
    if (existsSync(this.layout(run_id).dir) && !withSteps) return;
    const { withPacks } = await import('./change-packs.ts');
    await withPacks(this.root, async (packs) => {
      const steps = withSteps ? packs.stepsOf(run_id) : [];
      for (const runId of [run_id, ...steps]) await packs.unpack(runId);
    });
  }

  /** `what` completes "cannot …". */
  #open(runId: string, name: string, what: string): ReadableFile | undefined {
    try {
      return this.files.open(runId, name);
    } catch (error) {
      throw storageError(error, what, join(this.layout(runId).dir, name));
    }
  }

  /** Undefined when another supervisor has used this epoch since the record was read, and has released it. */
  async #takeEpoch(
    layout: RunLayout,
    runId: string,
    epoch: number,
    { mayTake, recovers }: { mayTake: (record: RunRecord) => void; recovers: boolean },
  ): Promise<RunWriter | undefined> {
    let record: RunRecord | undefined;
    let isPast = false;
    const mayTakeNow = async () => {
      record = await this.read(runId);
      isPast = record.epoch >= epoch;
      if (isPast) throw new Error('the epoch is past');
      mayTake(record);
      // The supervisor before has removed its files by now, so none of them disappears under this look.
      this.#refuseLinks(runId);
    };
    // What a recovery cannot enter now, the next one does.
    if (!recovers) new Ledger(this.root).requireWritable();
    const acquired = this.leases.acquire(runId, epoch, { mayTake: mayTakeNow, recovers });
    const lease = await acquired.catch((error) => {
      if (isPast) return undefined;
      throw error;
    });
    if (lease === undefined) return undefined;
    try {
      // Recovery reads no files of steps.
      await this.#unpack(record!, { withSteps: !recovers && isOrchestration(record!.kind) });
    } catch (error) {
      await lease.release();
      throw storageError(error, 'unpack the run', layout.dir);
    }
    try {
      return new FileRunWriter(layout, { ...record!, epoch }, lease, this.#writing());
    } catch (error) {
      await lease.abandon();
      throw error;
    }
  }

  /** Before the lease, which is written as well. */
  #refuseLinkedFolders({ dir }: RunLayout): void {
    try {
      refuseLinkedFolders(this.root);
    } catch (error) {
      throw storageError(error, 'take over the run', dir);
    }
  }

  /** A run that is continued is written at many places, and it may have come with a cloned project. */
  #refuseLinks(runId: string): void {
    const { dir } = this.layout(runId);
    try {
      refuseLinks(this.root, join(runId, 'work', '.checkpoints'));
      for (const folder of OWN_FOLDERS) {
        if (!existsSync(join(dir, folder))) continue;
        for (const name of readdirSync(join(dir, folder))) refuseLinks(this.root, join(runId, folder, name));
      }
    } catch (error) {
      throw storageError(error, 'continue the run', dir);
    }
  }

  #writing() {
    return { ledger: new Ledger(this.root), commandOf: this.commandOf };
  }

  #prepareRoot(): void {
    try {
      mkdirSync(this.root, { recursive: true });
      const ignore = join(this.root, '.gitignore');
      if (!existsSync(ignore)) writeAtomic(ignore, '*\n');
      if (!statSync(this.root).isDirectory()) throw new Error('not a folder');
      refuseLinkedFolders(this.root);
      new Ledger(this.root).requireWritable();
    } catch (error) {
      throw storageError(error, 'create the store', this.root);
    }
  }
}
