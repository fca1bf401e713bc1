import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { CommandOf } from '../../protocol/next-steps.ts';
import { isFinal, kindOfName, RUN_ID_PATTERN, RUN_RECORD_VERSION } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
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
import { FileLeases, heldByAnother } from './file-leases.ts';
import { FileRunWriter } from './file-run-writer.ts';
import { followEvents } from './follow.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { layoutOf, type RunLayout } from './layout.ts';
import { Ledger } from './ledger.ts';
import { readQuestionEvents } from './question-file.ts';
import { runNotFound } from './run-not-found.ts';
import { storageError } from './storage-error.ts';
import { extentOf, tailOf } from './tail.ts';

/** Runs as folders under `.runs/`, readable with `cat` and `jq`. */
export class FileRunStore implements RunStore {
  readonly root: string;
  readonly leases: FileLeases;
  readonly control: FileControlChannel;
  readonly blobs = new FileBlobStore();
  readonly #keys: IdempotencyKeys;
  readonly commandOf: CommandOf;

  /** `commandOf` renders the next steps in events. */
  constructor(root: string, commandOf: CommandOf) {
    this.root = root;
    this.leases = new FileLeases(root);
    this.control = new FileControlChannel(root, this.leases);
    this.commandOf = commandOf;
    this.#keys = new IdempotencyKeys(root, (runId) => existsSync(this.layout(runId).metadata));
  }

  get location(): string {
    return this.root;
  }

  async create(run: NewRun): Promise<RunWriter> {
    const layout = this.layout(run.run_id);
    this.#prepareRoot();
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
      return new FileRunWriter(layout, record as RunRecord, lease, this.#writing());
    } catch (error) {
      // Remove what was created of a run that did not start.
      rmSync(layout.dir, { recursive: true, force: true });
      await lease.release();
      throw storageError(error, 'create the run', layout.dir);
    }
  }

  async createOnce(run: NewRun, keyed: KeyedCall): Promise<RunWriter | string> {
    this.#prepareRoot();
    return this.#keys.once(keyed, run.run_id, () => this.create(run));
  }

  async runOfKey(keyed: KeyedCall): Promise<string | undefined> {
    return this.#keys.runOf(keyed);
  }

  async takeOver(
    runId: string,
    mayTake: (record: RunRecord) => void = () => {},
    { recovers = false }: { recovers?: boolean } = {},
  ): Promise<RunWriter> {
    const layout = this.layout(runId);
    for (;;) {
      const recorded = await this.read(runId);
      mayTake(recorded);
      const newest = await this.leases.newest(runId);
      // A supervisor holds its lease for a moment after it has recorded the end: such a run may be taken over.
      const isEnding = isFinal(recorded.state) && newest?.epoch === recorded.epoch;
      if (newest !== undefined && newest.state !== 'lost' && !isEnding) throw heldByAnother(runId);
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
    const { metadata } = this.layout(runId);
    let text: string;
    try {
      text = readFileSync(metadata, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') throw runNotFound(runId, this.root, this.listNow());
      throw storageError(error, 'read the record of the run', metadata);
    }
    try {
      const record: RunRecord = JSON.parse(text);
      // Earlier builds recorded the kind as a prefix of the name, and no staged outputs.
      if (record.run_id === runId && typeof record.state === 'string')
        return { ...record, kind: record.kind ?? kindOfName(record.tool), staged: record.staged ?? [] };
      throw new TypeError('it is not the record of this run');
    } catch (error) {
      throw new AcorError('E_STORAGE', `the record of run ${runId} is invalid: ${metadata}`, {
        hint: 'Another program changed the file. The events of the run are in events.jsonl beside it.',
        cause: error,
      });
    }
  }

  async list(): Promise<string[]> {
    return this.listNow();
  }

  listNow(): string[] {
    try {
      return readdirSync(this.root)
        .filter((name) => RUN_ID_PATTERN.test(name))
        .sort();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError(error, 'list the runs', this.root);
    }
  }

  async remove(runId: string): Promise<void> {
    await this.read(runId);
    const { removeRuns } = await import('./retention.ts');
    await removeRuns(this, [runId]);
  }

  /** Releases the idempotency key of a removed run, so that it may start another run. */
  forgetKey(key: string, runId: string): Promise<void> {
    return this.#keys.forget(key, runId);
  }

  follow(runId: string, options: FollowOptions): AsyncGenerator<Uint8Array> {
    return followEvents(this.layout(runId).events, options);
  }

  async extent(runId: string): Promise<LogExtent> {
    return extentOf(this.layout(runId).events);
  }

  async *tail(runId: string, types?: readonly string[]): AsyncGenerator<ReadEvent> {
    yield* tailOf(this.layout(runId).events, types);
  }

  async questionEvents(runId: string): Promise<ReadEvent[]> {
    const { questions, events } = this.layout(runId);
    const { has_questions: hasAsked } = await this.read(runId);
    return readQuestionEvents(questions, events, hasAsked);
  }

  layout(runId: string): RunLayout {
    return layoutOf(this.root, runId);
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
    };
    const acquired = this.leases.acquire(runId, epoch, { mayTake: mayTakeNow, recovers });
    const lease = await acquired.catch((error) => {
      if (isPast) return undefined;
      throw error;
    });
    if (lease === undefined) return undefined;
    try {
      return new FileRunWriter(layout, { ...record!, epoch }, lease, this.#writing());
    } catch (error) {
      await lease.abandon();
      throw error;
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
    } catch (error) {
      throw storageError(error, 'create the store', this.root);
    }
  }
}
