import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';

const CHUNK_BYTES = 1 << 20;
/** For a file that reports no size. */
const LEAST_CHUNK_BYTES = 4096;

/** What Bun and Node share of a running SHA-256. */
export interface Sha256 {
  update(data: string | Uint8Array): Sha256;
  copy(): Sha256;
  digest(): Buffer;
  digest(encoding: 'hex'): string;
}

/** A new SHA-256. Modules that each run loads use it: `node:crypto` takes 3 ms to load in Bun, which has this built in. */
export function newSha256(): Sha256 {
  return process.versions.bun === undefined
    ? nodeCrypto().createHash('sha256')
    : new Bun.CryptoHasher('sha256');
}

/** The HMAC with SHA-256 of a text. */
export function sha256Code(key: Uint8Array, text: string): Buffer {
  if (process.versions.bun === undefined) return nodeCrypto().createHmac('sha256', key).update(text).digest();
  return new Bun.CryptoHasher('sha256', key as Uint8Array<ArrayBuffer>).update(text).digest();
}

/** Compares two digests in a time that does not depend on their bytes. */
export function areEqualDigests(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0);
  return difference === 0;
}

/** The SHA-256 of a file's bytes, in hex. Throws the system's errors. */
export function sha256Of(path: string): string {
  return sha256OfOpened(openSync(path, 'r'));
}

/** The same for a descriptor, which it closes. */
export function sha256OfOpened(fd: number): string {
  const hash = newSha256();
  try {
    // The kernel makes a large chunk page by page, which takes longer than reading a small file. One byte more finds its end.
    const bytes = Math.max(LEAST_CHUNK_BYTES, fstatSync(fd).size + 1);
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes));
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk))
      hash.update(chunk.subarray(0, read));
  } finally {
    closeSync(fd);
  }
  return hash.digest('hex');
}

function nodeCrypto(): typeof import('node:crypto') {
  return createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
}
