import { closeSync, fdatasyncSync, fstatSync, mkdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeAtomic, writeFully } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { parseObject } from '../../util/parse-object.ts';
import { appendOwn, readOwn, refuseLinks } from '../../util/regular-file.ts';

/** The run of an idempotency key, and a code of the call that used it. */
export interface Claim {
  run_id: string;
  call: string;
}

/** A claim with the SHA-256 of its key. */
export type HashedClaim = Claim & { key_sha256: string };

const LF = 10;

/**
 * The keys of packed runs: a line each, in 256 files by the first digits of the key's hash, so that a look for a key reads a small part of
 * them. The last line of a key counts.
 */
export class PackedKeys {
  readonly #root: string;
  readonly #name: string;
  readonly #folder: string;

  /** `name` is the path of the folder below the store. */
  constructor(root: string, name: string) {
    this.#root = root;
    this.#name = name;
    this.#folder = join(root, name);
  }

  find(keySha256: string): Claim | undefined {
    const bytes = readIfThere(this.#path(keySha256));
    const at = bytes?.lastIndexOf(`{"key_sha256":"${keySha256}"`) ?? -1;
    if (bytes === undefined || at === -1) return undefined;
    const end = bytes.indexOf(LF, at);
    // A line without an end was never synced: the key still has its own file.
    const claim = end === -1 ? undefined : parseObject(bytes.toString('utf8', at, end));
    return claim && { run_id: String(claim.run_id), call: String(claim.call) };
  }

  /** On the disk when the call returns. */
  async add(claims: readonly HashedClaim[]): Promise<void> {
    if (claims.length === 0) return;
    refuseLinks(this.#root, this.#name);
    mkdirSync(this.#folder, { recursive: true });
    for (const [path, added] of this.#byFile(claims))
      await withFileLock(`${path}.lock`, () => {
        append(path, added.map(lineOf).join(''));
      });
    syncFolder(this.#folder);
  }

  /** Removes claims, and files that have no more. */
  async remove(claims: readonly Pick<HashedClaim, 'key_sha256' | 'run_id'>[]): Promise<void> {
    refuseLinks(this.#root, this.#name);
    for (const [path, removed] of this.#byFile(claims)) {
      if (readIfThere(path) === undefined) continue;
      await withFileLock(`${path}.lock`, () => {
        const gone = new Set(removed.map(({ key_sha256, run_id }) => `${key_sha256} ${run_id}`));
        const lines = (readIfThere(path)?.toString('utf8') ?? '').split('\n').slice(0, -1);
        const kept = lines.filter((line) => {
          const { key_sha256, run_id } = parseObject(line) ?? {};
          return !gone.has(`${key_sha256} ${run_id}`);
        });
        if (kept.length === 0) rmSync(path, { force: true });
        else if (kept.length < lines.length)
          writeAtomic(path, kept.map((line) => `${line}\n`).join(''), {
            durable: true,
            mode: 0o600,
          });
      });
    }
  }

  #byFile<T extends Pick<HashedClaim, 'key_sha256'>>(claims: readonly T[]): Map<string, T[]> {
    return Map.groupBy(claims, ({ key_sha256 }) => this.#path(key_sha256));
  }

  #path(keySha256: string): string {
    return join(this.#folder, `${keySha256.slice(0, 2)}.jsonl`);
  }
}

function lineOf({ key_sha256, run_id, call }: HashedClaim): string {
  return `${JSON.stringify({ key_sha256, run_id, call })}\n`;
}

function append(path: string, lines: string): void {
  const fd = appendOwn(path, 0o600);
  try {
    writeFully(fd, Buffer.from(endsInLine(fd) ? lines : `\n${lines}`));
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** False after a process was killed in the middle of a line. */
function endsInLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === LF);
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readOwn(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
