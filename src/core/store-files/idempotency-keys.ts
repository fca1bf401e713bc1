import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { showRun } from '../../protocol/next-steps.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { readOwn } from '../../util/regular-file.ts';
import type { KeyedCall } from '../ports/run-store.ts';
import { sha256 } from './ledger-line.ts';
import { storageError } from './storage-error.ts';

/** Maps idempotency keys to runs: `.runs/keys/<hash of the key>.json`, until the run is removed. */
export class IdempotencyKeys {
  readonly #folder: string;
  readonly #exists: (runId: string) => boolean;

  constructor(root: string, exists: (runId: string) => boolean) {
    this.#folder = join(root, 'keys');
    this.#exists = exists;
  }

  /** The run of a key; undefined when no existing run has it. Throws E_USAGE when the key belongs to another call. */
  runOf({ key, call }: KeyedCall): string | undefined {
    const claim = this.#read(key);
    if (claim === undefined || !this.#exists(claim.run_id)) return undefined;
    if (claim.call === call) return claim.run_id;
    throw new AcorError(
      'E_USAGE',
      `the idempotency key '${key}' belongs to another call: run ${claim.run_id} used it with another tool or other arguments`,
      { hint: 'Use a new key for a new call.', next: [showRun(claim.run_id)] },
    );
  }

  /** Creates a run for a key, or returns the id of the run that has the key. Of two concurrent calls, one creates the run. */
  async once<T>(keyed: KeyedCall, runId: string, make: () => Promise<T>): Promise<T | string> {
    const path = this.#path(keyed.key);
    try {
      mkdirSync(this.#folder, { recursive: true });
      return await withFileLock<T | string>(`${path}.lock`, () => {
        const known = this.runOf(keyed);
        if (known !== undefined) return known;
        // The key may be written first: a key without an existing run is ignored.
        writeAtomic(path, JSON.stringify({ run_id: runId, call: keyed.call }), { durable: true });
        return make();
      });
    } catch (error) {
      throw storageError(error, 'store the idempotency key', path);
    }
  }

  /** Releases the key of a removed run, unless it belongs to another run by now. */
  async forget(key: string, runId: string): Promise<void> {
    const path = this.#path(key);
    if (this.#read(key)?.run_id !== runId) return;
    await withFileLock(`${path}.lock`, () => {
      if (this.#read(key)?.run_id === runId) rmSync(path, { force: true });
    });
  }

  #read(key: string): { run_id: string; call: string } | undefined {
    const path = this.#path(key);
    try {
      return JSON.parse(readOwn(path).toString());
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw storageError(error, 'read the idempotency key', path);
    }
  }

  #path(key: string): string {
    return join(this.#folder, `${sha256(key)}.json`);
  }
}
