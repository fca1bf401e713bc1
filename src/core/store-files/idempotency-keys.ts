import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { showRun } from '../../protocol/next-steps.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { makePrivateFolder } from '../../util/files.ts';
import { randomBytes } from '../../util/ids.ts';
import { readOwn } from '../../util/regular-file.ts';
import { sha256Code } from '../../util/sha256.ts';
import type { KeyedCall } from '../ports/run-store.ts';
import { sha256 } from './ledger-line.ts';
import { type Claim, PackedKeys } from './packed-keys.ts';
import { storageError } from './storage-error.ts';

/** A run and the idempotency key that started it. */
export interface KeyOfRun {
  key: string;
  runId: string;
}

const SECRET_BYTES = 32;

/**
 * Maps idempotency keys to runs: `.runs/keys/<hash of the key>.json`, until the run is removed. Packed runs share files. A call may contain a
 * secret that can be guessed, so only this user reads the files, and they hold the HMAC of the call's digest with the key in `.runs/keys/secret`.
 */
export class IdempotencyKeys {
  readonly #folder: string;
  readonly #secretFile: string;
  readonly #packed: PackedKeys;
  readonly #exists: (runId: string) => boolean;

  constructor(root: string, exists: (runId: string) => boolean) {
    this.#folder = join(root, 'keys');
    this.#secretFile = join(this.#folder, 'secret');
    this.#packed = new PackedKeys(root, join('keys', 'packed'));
    this.#exists = exists;
  }

  /** The run of a key; undefined when no existing run has it. Throws E_USAGE when the key belongs to another call. */
  runOf({ key, call }: KeyedCall): string | undefined {
    const claim = this.#read(key);
    if (claim === undefined || !this.#exists(claim.run_id)) return undefined;
    // Earlier builds stored the digest itself.
    if (claim.call === call || claim.call === this.#codeOf(call)) return claim.run_id;
    throw new AcorError(
      'E_USAGE',
      `the idempotency key '${key}' belongs to another call: run ${claim.run_id} used it with another tool or other arguments`,
      {
        hint: 'Use a new key for a new call.',
        next: [showRun(claim.run_id)],
        details: { run_id: claim.run_id },
      },
    );
  }

  /** Creates a run for a key, or returns the id of the run that has the key. Of two concurrent calls, one creates the run. */
  async once<T>(keyed: KeyedCall, runId: string, make: () => Promise<T>): Promise<T | string> {
    const path = this.#path(keyed.key);
    try {
      await this.#prepare();
      return await withFileLock<T | string>(`${path}.lock`, () => {
        const known = this.runOf(keyed);
        if (known !== undefined) return known;
        // The key may be written first: a key without an existing run is ignored.
        const claim: Claim = { run_id: runId, call: this.#codeOf(keyed.call)! };
        writeAtomic(path, JSON.stringify(claim), { durable: true, mode: 0o600 });
        return make();
      });
    } catch (error) {
      throw storageError(error, 'store the idempotency key', path);
    }
  }

  /** Moves the keys of packed runs into files that they share. A key that a later run has claimed stays where it is. */
  async pack(runs: readonly KeyOfRun[]): Promise<void> {
    const moved = runs.flatMap(({ key, runId }) => {
      const claim = this.#readFile(key);
      return claim?.run_id === runId ? [{ key, runId, claim }] : [];
    });
    if (moved.length > 0) await this.#prepare();
    await this.#packed.add(moved.map(({ key, claim }) => ({ key_sha256: sha256(key), ...claim })));
    for (const { key, runId } of moved) await this.#removeFile(key, runId);
  }

  /** Releases the keys of removed runs, except those that belong to another run by now. */
  async forget(runs: readonly KeyOfRun[]): Promise<void> {
    for (const { key, runId } of runs)
      if (this.#readFile(key)?.run_id === runId) await this.#removeFile(key, runId);
  }

  /** Removes what is packed of the keys of removed runs. Each call may write all files of packed keys. */
  async forgetPacked(runs: readonly KeyOfRun[]): Promise<void> {
    await this.#packed.remove(runs.map(({ key, runId }) => ({ key_sha256: sha256(key), run_id: runId })));
  }

  /** Makes the folder and the secret. */
  async #prepare(): Promise<void> {
    makePrivateFolder(this.#folder);
    if (this.#secret() !== undefined) return;
    await withFileLock(`${this.#secretFile}.lock`, () => {
      if (this.#secret() !== undefined) return;
      writeAtomic(this.#secretFile, randomBytes(SECRET_BYTES), { durable: true, mode: 0o600 });
    });
  }

  #secret(): Buffer | undefined {
    return ifThere(this.#secretFile, 'read the secret of the idempotency keys');
  }

  #codeOf(call: string): string | undefined {
    const secret = this.#secret();
    return secret && sha256Code(secret, call).toString('hex');
  }

  #removeFile(key: string, runId: string): Promise<void> {
    const path = this.#path(key);
    return withFileLock(`${path}.lock`, () => {
      if (this.#readFile(key)?.run_id === runId) rmSync(path, { force: true });
    });
  }

  /** A claim in a file of its own is the newer one: it is made only when the run of the other one is gone. */
  #read(key: string): Claim | undefined {
    return this.#readFile(key) ?? this.#packed.find(sha256(key));
  }

  #readFile(key: string): Claim | undefined {
    const path = this.#path(key);
    const bytes = ifThere(path, 'read the idempotency key');
    try {
      return bytes && JSON.parse(bytes.toString());
    } catch (error) {
      throw storageError(error, 'read the idempotency key', path);
    }
  }

  #path(key: string): string {
    return join(this.#folder, `${sha256(key)}.json`);
  }
}

function ifThere(path: string, what: string): Buffer | undefined {
  try {
    return readOwn(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, what, path);
  }
}
