import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { RUN_ID_PATTERN, RUN_RECORD_VERSION } from '../../protocol/run-id.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { FinalState } from '../../protocol/run-state.ts';
import { syncFolder, writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { identify, isRunning, type ProcessIdentity } from '../../util/process-table.ts';
import { EventLog, type RedactLine } from './event-log.ts';
import { layoutOf, type RunLayout } from './layout.ts';
import { Ledger } from './ledger.ts';
import type { NewRun, RunStore, RunWriter } from './run-store.ts';
import { storageError } from './storage-error.ts';

/** Put aside at the start, so that a full disk does not keep a run from telling how it ended. */
const RESERVE_BYTES = 16_384;

/** Runs as folders under `.runs/`, readable with `cat` and `jq`. */
export class FileRunStore implements RunStore {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
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
      mkdirSync(layout.answers);
      mkdirSync(layout.secrets, { mode: 0o700 });
      return this.#open(layout, { ...run, version: RUN_RECORD_VERSION, epoch: 1 } as RunRecord);
    } catch (error) {
      // A run that never began leaves nothing behind.
      rmSync(layout.dir, { recursive: true, force: true });
      throw storageError(error, 'begin the run', layout.dir);
    }
  }

  takeOver(runId: string): RunWriter {
    const record = this.read(runId);
    const layout = this.layout(runId);
    return this.#open(layout, { ...record, epoch: nextEpoch(layout, record.epoch) });
  }

  read(runId: string): RunRecord {
    const { metadata } = this.layout(runId);
    let text: string;
    try {
      text = readFileSync(metadata, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') throw notFound(runId, this.root);
      throw storageError(error, 'read the record of the run', metadata);
    }
    try {
      return JSON.parse(text) as RunRecord;
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

  #open(layout: RunLayout, record: RunRecord): RunWriter {
    claimEpoch(layout, record.epoch);
    return new FileRunWriter(layout, record, new Ledger(this.root));
  }

  #prepareRoot(): void {
    try {
      mkdirSync(this.root, { recursive: true });
      const ignore = join(this.root, '.gitignore');
      if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
      if (!statSync(this.root).isDirectory()) throw new Error('not a folder');
    } catch (error) {
      throw storageError(error, 'make the store', this.root);
    }
  }
}

class FileRunWriter implements RunWriter {
  readonly layout: RunLayout;
  readonly log: EventLog;
  readonly #ledger: Ledger;
  #record: RunRecord;
  #redact: RedactLine = (line) => line;

  constructor(layout: RunLayout, record: RunRecord, ledger: Ledger) {
    this.layout = layout;
    this.#record = record;
    this.#ledger = ledger;
    const successor = epochPath(layout, record.epoch + 1);
    putReserve(layout);
    this.log = new EventLog(layout.events, record.run_id, () => existsSync(successor));
    this.update({});
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
    this.#record = { ...this.#record, ...change };
    try {
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

  releaseReserve(): void {
    rmSync(reservePath(this.layout), { force: true });
  }

  close(): void {
    this.log.close();
    this.releaseReserve();
  }
}

/** Makes this process the writer of an epoch; only one can be. */
function claimEpoch(layout: RunLayout, epoch: number): void {
  try {
    writeFileSync(epochPath(layout, epoch), JSON.stringify(identify(process.pid)), { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw storageError(error, 'claim the run', layout.control);
    throw new AcorError('E_STORAGE', `another supervisor already holds this run: ${layout.dir}`, {
      hint: 'Follow it with: acor logs --follow',
    });
  }
  // A run that is new has no earlier writer who could come back.
  if (epoch > 1) syncFolder(layout.control);
}

/** The epoch after the recorded one, or after those of supervisors that claimed one and died before they recorded it. */
function nextEpoch(layout: RunLayout, recorded: number): number {
  for (let epoch = recorded + 1; ; epoch++) if (!isClaimedByDead(epochPath(layout, epoch))) return epoch;
}

function isClaimedByDead(path: string): boolean {
  try {
    return !isRunning(JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity);
  } catch {
    return false;
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
    rmSync(reservePath(layout), { force: true });
  }
}

function reservePath(layout: RunLayout): string {
  return join(layout.control, 'reserve');
}

function notFound(runId: string, root: string): AcorError {
  return new AcorError('E_RUN_NOT_FOUND', `there is no run ${runId} in ${root}`, {
    hint: 'List the runs with: acor runs',
    next: ['acor runs'],
  });
}
