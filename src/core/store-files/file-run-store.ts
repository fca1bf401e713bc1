import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { CommandOf } from '../../protocol/next-step.ts';
import { followLogs } from '../../protocol/next-steps.ts';
import { RUN_ID_PATTERN, RUN_RECORD_VERSION } from '../../protocol/run-id.ts';
import { kindOfName } from '../../protocol/run-kind.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { type FinalState, isFinal } from '../../protocol/run-state.ts';
import { syncFolder, writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { newSpanId } from '../../util/ids.ts';
import { identify, isRunning, type ProcessIdentity } from '../../util/process-table.ts';
import { removeIfPossible } from '../../util/remove-if-possible.ts';
import { EventLog, type RedactLine } from './event-log.ts';
import { IdempotencyKeys, type KeyedCall } from './idempotency-keys.ts';
import { layoutOf, type RunLayout } from './layout.ts';
import { Ledger } from './ledger.ts';
import { runNotFound } from './run-not-found.ts';
import type { NewRun, RunStore, RunWriter } from './run-store.ts';
import { storageError } from './storage-error.ts';

/** Put aside at the start, so that a full disk does not keep a run from telling how it ended. */
const RESERVE_BYTES = 16_384;

/** Runs as folders under `.runs/`, readable with `cat` and `jq`. */
export class FileRunStore implements RunStore {
  readonly root: string;
  readonly #keys: IdempotencyKeys;
  readonly commandOf: CommandOf;

  /** `commandOf` renders the next steps that events hold. */
  constructor(root: string, commandOf: CommandOf) {
    this.root = root;
    this.commandOf = commandOf;
    this.#keys = new IdempotencyKeys(root, (runId) => existsSync(this.layout(runId).metadata));
  }

  create(run: NewRun): RunWriter {
    this.#prepareRoot();
    const layout = layoutOf(this.root, run.run_id);
    try {
      mkdirSync(layout.dir, { mode: 0o700 });
    } catch (error) {
      throw storageError(error, 'make the folder of the run', layout.dir);
    }
    try {
      for (const folder of [layout.work, layout.logs, layout.artifacts, layout.control, layout.checkpoints]) {
        mkdirSync(folder);
      }
      for (const folder of [layout.toolLogs, layout.toolControl, layout.answers]) mkdirSync(folder);
      mkdirSync(layout.secrets, { mode: 0o700 });
      return this.#open(layout, 1, () => ({ ...run, version: RUN_RECORD_VERSION, epoch: 1 }) as RunRecord);
    } catch (error) {
      // A run that never began leaves nothing behind.
      rmSync(layout.dir, { recursive: true, force: true });
      throw storageError(error, 'begin the run', layout.dir);
    }
  }

  async createOnce(run: NewRun, keyed: KeyedCall): Promise<RunWriter | string> {
    this.#prepareRoot();
    return this.#keys.once(keyed, run.run_id, () => this.create(run));
  }

  runOfKey(keyed: KeyedCall): string | undefined {
    return this.#keys.runOf(keyed);
  }

  forgetKey(key: string, runId: string): Promise<void> {
    return this.#keys.forget(key, runId);
  }

  takeOver(runId: string, mayTake: (record: RunRecord) => void = () => {}): RunWriter {
    const layout = this.layout(runId);
    const recorded = this.read(runId);
    mayTake(recorded);
    // Whoever ends a lost run is at work under an epoch of its own, while the record still names the dead.
    if (!isFinal(recorded.state) && isHeldByAnother(epochPath(layout, recorded.epoch))) throw held(layout);
    return this.#open(layout, nextEpoch(layout, recorded.epoch), () => {
      // Since it was read, somebody else may have taken the run over, and be gone again.
      const record = this.read(runId);
      mayTake(record);
      return record;
    });
  }

  read(runId: string): RunRecord {
    const { metadata } = this.layout(runId);
    let text: string;
    try {
      text = readFileSync(metadata, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') throw runNotFound(runId, this.root, this.list());
      throw storageError(error, 'read the record of the run', metadata);
    }
    try {
      const record: RunRecord = JSON.parse(text);
      // Earlier builds recorded the kind only as a prefix of the name.
      if (record.run_id === runId && typeof record.state === 'string')
        return { ...record, kind: record.kind ?? kindOfName(record.tool) };
      throw new TypeError('it is not the record of this run');
    } catch (error) {
      throw new AcorError('E_STORAGE', `the record of run ${runId} is not readable: ${metadata}`, {
        hint: 'The file was changed from outside; its events are still in events.jsonl beside it.',
        cause: error,
      });
    }
  }

  list(): string[] {
    try {
      return readdirSync(this.root)
        .filter((name) => RUN_ID_PATTERN.test(name))
        .sort();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError(error, 'list the runs', this.root);
    }
  }

  layout(runId: string): RunLayout {
    return layoutOf(this.root, runId);
  }

  #open(layout: RunLayout, epoch: number, recordOf: () => RunRecord): RunWriter {
    claimEpoch(layout, epoch);
    try {
      return new FileRunWriter(layout, { ...recordOf(), epoch }, new Ledger(this.root), this.commandOf);
    } catch (error) {
      // Nobody else could take the run over as long as this process lives.
      removeIfPossible(epochPath(layout, epoch));
      throw error;
    }
  }

  #prepareRoot(): void {
    try {
      mkdirSync(this.root, { recursive: true });
      const ignore = join(this.root, '.gitignore');
      if (!existsSync(ignore)) writeAtomic(ignore, '*\n');
      if (!statSync(this.root).isDirectory()) throw new Error('not a folder');
    } catch (error) {
      throw storageError(error, 'make the store', this.root);
    }
  }
}

class FileRunWriter implements RunWriter {
  readonly layout: RunLayout;
  readonly commandOf: CommandOf;
  readonly log: EventLog;
  readonly #ledger: Ledger;
  readonly #successor: string;
  #record: RunRecord;
  #redact: RedactLine = (line) => line;

  constructor(layout: RunLayout, record: RunRecord, ledger: Ledger, commandOf: CommandOf) {
    this.layout = layout;
    this.commandOf = commandOf;
    this.#record = record;
    this.#ledger = ledger;
    this.#successor = epochPath(layout, record.epoch + 1);
    putReserve(layout);
    this.log = new EventLog(layout.events, record.run_id, () => this.#isSuperseded);
    try {
      this.update({});
    } catch (error) {
      this.close();
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

  update(change: Partial<RunRecord>, options: { durable?: boolean } = {}): void {
    try {
      if (this.#isSuperseded) throw new Error('another supervisor has taken over this run');
      this.#record = { ...this.#record, ...change };
      const line = this.#redact(Buffer.from(`${JSON.stringify(this.#record)}\n`));
      writeAtomic(this.layout.metadata, line.toString('utf8'), options);
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

  isInLedger(): boolean {
    return this.#ledger.has(this.#record.run_id, this.log.seal().sha256);
  }

  releaseReserve(): void {
    if (!this.#isSuperseded) removeIfPossible(reservePath(this.layout));
  }

  close(): void {
    this.log.close();
    this.releaseReserve();
  }

  get #isSuperseded(): boolean {
    return existsSync(this.#successor);
  }
}

/** Makes this process the writer of an epoch; only one can be. The claim appears whole, by a hard link, and names its holder. */
function claimEpoch(layout: RunLayout, epoch: number): void {
  const path = epochPath(layout, epoch);
  const own = `${path}.${process.pid}-${newSpanId()}`;
  try {
    writeFileSync(own, JSON.stringify(identify(process.pid)), { flag: 'wx' });
    linkSync(own, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw storageError(error, 'claim the run', layout.control);
    throw held(layout);
  } finally {
    removeIfPossible(own);
  }
  // A run that is new has no earlier writer who could come back.
  if (epoch > 1) syncFolder(layout.control);
}

/** The epoch after the recorded one, or after those of supervisors that claimed one and died before they recorded it. */
function nextEpoch(layout: RunLayout, recorded: number): number {
  for (let epoch = recorded + 1; ; epoch++) if (!isClaimedByDead(epochPath(layout, epoch))) return epoch;
}

function held(layout: RunLayout): AcorError {
  return new AcorError('E_STORAGE', `another supervisor already holds this run: ${layout.dir}`, {
    hint: 'Follow its events.',
    next: [followLogs(basename(layout.dir))],
  });
}

function isHeldByAnother(path: string): boolean {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
    return holder.pid !== process.pid && isRunning(holder);
  } catch {
    return false;
  }
}

function isClaimedByDead(path: string): boolean {
  let claim: string;
  try {
    claim = readFileSync(path, 'utf8');
  } catch {
    return false;
  }
  try {
    return !isRunning(JSON.parse(claim) as ProcessIdentity);
  } catch {
    // A claim of a living process is whole: this one was lost with the machine.
    return true;
  }
}

function epochPath(layout: RunLayout, epoch: number): string {
  return join(layout.control, `epoch-${epoch}`);
}

/** A disk that is too full for it will be told of by the next write that matters. */
function putReserve(layout: RunLayout): void {
  try {
    writeFileSync(reservePath(layout), Buffer.alloc(RESERVE_BYTES));
  } catch {
    removeIfPossible(reservePath(layout));
  }
}

function reservePath(layout: RunLayout): string {
  return join(layout.control, 'reserve');
}
