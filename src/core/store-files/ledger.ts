import { createHash } from 'node:crypto';
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeFully } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { storageError } from './storage-error.ts';

const TAIL_BYTES = 65_536;
const HASH_FIELD = ',"line_sha256":"';
/** What the first line has in place of the hash of a line before it. */
export const GENESIS = '0'.repeat(64);

export type LedgerEntry = { type: 'run' | 'cleaned'; run_id: string; [field: string]: unknown };

/** `.runs/ledger.jsonl`: one line a run, each with the hash of the line before it, so that no run is changed or lost unnoticed. */
export class Ledger {
  readonly path: string;
  readonly #lock: string;

  constructor(root: string) {
    this.path = join(root, 'ledger.jsonl');
    this.#lock = join(root, 'ledger.lock');
  }

  /** Adds a line, durable when the call returns. */
  async append(entry: LedgerEntry): Promise<void> {
    try {
      await withFileLock(this.#lock, () => this.#append(entry));
    } catch (error) {
      throw storageError(error, 'write the ledger', this.path);
    }
  }

  /** The lines, without their ends; none when there is no ledger yet. */
  lines(): string[] {
    try {
      const text = readFileSync(this.path, 'utf8');
      // A last line without an end was never acknowledged.
      return text
        .slice(0, text.lastIndexOf('\n') + 1)
        .split('\n')
        .slice(0, -1);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError(error, 'read the ledger', this.path);
    }
  }

  /** Whether an ending of a run is entered: the hash of its whole log. */
  has(runId: string, eventsSha256: string): boolean {
    return this.lines().some((line) => line.includes(`"${runId}"`) && line.includes(`"${eventsSha256}"`));
  }

  #append(entry: LedgerEntry): void {
    const fd = openSync(this.path, 'a+', 0o644);
    try {
      const { line, end } = lastLine(fd);
      ftruncateSync(fd, end);
      const prev = line === undefined ? GENESIS : sha256(line);
      const text = withItsHash(JSON.stringify({ ...entry, ts: new Date().toISOString(), prev }));
      try {
        writeFully(fd, Buffer.from(`${text}\n`));
      } catch (error) {
        ftruncateSync(fd, end);
        throw error;
      }
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** The last whole line of a file, and where it ends: what follows is a torn write. */
function lastLine(fd: number): { line: string | undefined; end: number } {
  const size = fstatSync(fd).size;
  const from = Math.max(0, size - TAIL_BYTES);
  const tail = Buffer.alloc(size - from);
  readSync(fd, tail, 0, tail.length, from);
  const end = tail.lastIndexOf(10) + 1;
  if (end === 0 && from > 0) throw new Error(`no line ends in its last ${TAIL_BYTES} bytes: it was damaged`);
  if (end === 0) return { line: undefined, end: 0 };
  const start = tail.lastIndexOf(10, end - 2) + 1;
  return { line: tail.toString('utf8', start, end - 1), end: from + end };
}

/** The hash of a line stands at its end, so that a change is found in the line itself, the last one included. */
function withItsHash(line: string): string {
  return `${line.slice(0, -1)}${HASH_FIELD}${sha256(line)}"}`;
}

/** Whether a line of the ledger, without its end, has the hash that it names. */
export function holdsItsHash(line: Buffer): boolean {
  const field = Buffer.byteLength(HASH_FIELD);
  const at = line.length - field - GENESIS.length - 2;
  if (at < 0 || line.toString('latin1', at, at + field) !== HASH_FIELD) return false;
  const hashed = Buffer.concat([line.subarray(0, at), Buffer.from('}')]);
  return line.toString('latin1', at + field) === `${sha256(hashed)}"}`;
}

/** The SHA-256 of a text or of bytes, in hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
