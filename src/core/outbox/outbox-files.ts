import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunId } from '../../protocol/run.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { tryFileLock } from '../../util/file-lock.ts';
import { makePrivateFolder } from '../../util/files.ts';
import { parseObject } from '../../util/parse-object.ts';
import { NOT_REGULAR, readOwn, refuseLinks } from '../../util/regular-file.ts';
import { storageError } from '../store-files/storage-error.ts';

const FOLDER = 'outbox';

/** What was delivered of one run: the cursor of the outbox, whose messages are in the run's log. */
export interface RunCursor {
  /** Only what happened after this event is sent: the length of the log before this supervisor. */
  since: number;
  /** The ids of the messages that each receiver has, by the receiver's id. */
  delivered: Record<string, string[]>;
}

/** How it goes with a receiver that does not take messages. */
export interface ReceiverState {
  /** How often in a row it has failed. */
  failed: number;
  error: string;
  at: string;
}

/**
 * The files of the outbox, in a folder beside the runs: a cursor for each run that is live or has something undelivered, the state of receivers
 * that fail, and the lock of the one process that delivers. Only its user reads it: an error may name a receiver with its secret.
 */
export class OutboxFiles {
  readonly folder: string;
  readonly lock: string;
  readonly #runsDir: string;
  readonly #wake: string;
  readonly #retry: string;
  readonly #receivers: string;

  constructor(runsDir: string) {
    this.#runsDir = runsDir;
    this.folder = join(runsDir, FOLDER);
    this.lock = join(this.folder, 'deliver.lock');
    this.#wake = join(this.folder, 'wake');
    this.#retry = join(this.folder, 'retry');
    this.#receivers = join(this.folder, 'receivers.json');
  }

  /** Enters a run before its first event, so that nothing is lost whatever ends the process. Throws E_STORAGE. */
  enter(runId: string, since: number): void {
    this.prepare();
    if (this.cursor(runId) !== undefined) return;
    try {
      this.write(runId, { since, delivered: {} });
    } catch (error) {
      throw storageError(error, 'enter the run in the outbox', this.folder);
    }
  }

  /** Makes the folder, which can then be watched. */
  prepare(): void {
    try {
      refuseLinks(this.#runsDir, FOLDER);
      makePrivateFolder(this.folder);
    } catch (error) {
      throw storageError(error, 'make the outbox', this.folder);
    }
  }

  /** The right to deliver, as the function that releases it; undefined while another process has it. */
  claim(): (() => void) | undefined {
    try {
      refuseLinks(this.#runsDir, FOLDER);
      return tryFileLock(this.lock);
    } catch (error) {
      throw storageError(error, 'lock the outbox', this.folder);
    }
  }

  /** Whether a run was ever entered. */
  exists(): boolean {
    return existsSync(this.folder);
  }

  /** The runs that are in the outbox, oldest first. */
  runs(): string[] {
    try {
      return readdirSync(this.folder).filter(isRunId).sort();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError(error, 'read the outbox', this.folder);
    }
  }

  cursor(runId: string): RunCursor | undefined {
    return this.#read(join(this.folder, runId)) as RunCursor | undefined;
  }

  write(runId: string, cursor: RunCursor): void {
    writeAtomic(join(this.folder, runId), JSON.stringify(cursor), { durable: true, mode: 0o600 });
  }

  forget(runId: string): void {
    rmSync(join(this.folder, runId), { force: true });
  }

  /** Wakes the process that delivers, which watches the folder. */
  wake(): void {
    // A file that another user has left is replaced.
    writeAtomic(this.#wake, '');
  }

  /** Wakes the process that delivers, to try again also the receivers that have failed. */
  askToRetry(): void {
    writeAtomic(this.#retry, '');
    this.wake();
  }

  get isAskedToRetry(): boolean {
    return existsSync(this.#retry);
  }

  forgetRetry(): void {
    rmSync(this.#retry, { force: true });
  }

  receivers(): Record<string, ReceiverState> {
    return (this.#read(this.#receivers) ?? {}) as Record<string, ReceiverState>;
  }

  writeReceivers(states: Readonly<Record<string, ReceiverState>>): void {
    writeAtomic(this.#receivers, JSON.stringify(states), { mode: 0o600 });
  }

  #read(path: string): object | undefined {
    try {
      refuseLinks(this.#runsDir, FOLDER);
      return parseObject(readOwn(path).toString());
    } catch (error) {
      // A folder of runs below a file is a problem of the store, which health reports. The outbox of another user is closed. A link is not ACOR's.
      if (['ENOENT', 'ENOTDIR', 'EACCES', NOT_REGULAR].includes(errorCode(error) ?? '')) return undefined;
      throw error;
    }
  }
}
