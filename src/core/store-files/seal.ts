import { createHash, type Hash } from 'node:crypto';
import type { Seal } from '../../protocol/v1/runner-events.ts';

const MAX_MARKS = 64;
const MARK_HEX_CHARS = 16;

/**
 * The running hash of an event log. Beside the hash of all, it keeps a few prefix hashes, so that a later change can be
 * narrowed down to a place instead of only being noticed.
 */
export class SealBuilder {
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;
  #marks: [number, string][] = [];
  #minGapBytes = 1;

  /** Takes the next bytes. */
  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    const last = this.#marks.at(-1)?.[0] ?? 0;
    if (this.#bytes - last >= this.#minGapBytes) this.#mark();
  }

  /** The seal of everything so far. */
  seal(): Seal {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex'), marks: [...this.#marks] };
  }

  #mark(): void {
    this.#marks.push([this.#bytes, prefixDigest(this.#hash)]);
    if (this.#marks.length <= MAX_MARKS) return;
    this.#marks = this.#marks.filter((_, index) => index % 2 === 1);
    this.#minGapBytes = Math.max(this.#minGapBytes * 2, Math.floor(this.#bytes / MAX_MARKS));
  }
}

/**
 * The first mark that the bytes before `size` do not match: they differ between the two offsets, or the mark itself was changed.
 * Undefined when the seal holds. `read` gives the bytes between two offsets in chunks.
 */
export function findBrokenMark(
  size: number,
  read: (from: number, to: number) => Iterable<Uint8Array>,
  seal: Seal,
): { from: number; to: number } | undefined {
  const hash = createHash('sha256');
  let from = 0;
  for (const [offset, digest] of seal.marks) {
    if (!(offset >= from) || offset > size) return { from, to: offset };
    for (const bytes of read(from, offset)) hash.update(bytes);
    if (prefixDigest(hash) !== digest) return { from, to: offset };
    from = offset;
  }
  for (const bytes of read(from, size)) hash.update(bytes);
  return size === seal.bytes && hash.digest('hex') === seal.sha256 ? undefined : { from, to: seal.bytes };
}

function prefixDigest(hash: Hash): string {
  return hash.copy().digest('hex').slice(0, MARK_HEX_CHARS);
}
