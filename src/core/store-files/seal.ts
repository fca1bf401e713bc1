import type { Seal } from '../../protocol/v1/runner-events.ts';
import { newSha256, type Sha256 } from '../../util/sha256.ts';

const MAX_MARKS = 64;
const MARK_HEX_CHARS = 16;

/**
 * The running hash of an event log. Besides the hash of all bytes, it keeps a few prefix hashes (marks), so that `acor verify` can
 * locate a later change and not only detect it.
 */
export class SealBuilder {
  readonly #hash: Sha256 = newSha256();
  #bytes = 0;
  #marks: [number, string][] = [];
  #minGapBytes = 1;

  /** Adds the next bytes. */
  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    const last = this.#marks.at(-1)?.[0] ?? 0;
    if (this.#bytes - last >= this.#minGapBytes) this.#mark();
  }

  /** The seal of all bytes so far. */
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
 * The range before the first mark that does not match the bytes: bytes in it were changed, or the mark itself was. Undefined when the
 * whole seal matches.
 */
export function findBrokenMark(
  size: number,
  read: (from: number, to: number) => Iterable<Uint8Array>,
  seal: Seal,
): { from: number; to: number } | undefined {
  const hash = newSha256();
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

function prefixDigest(hash: Sha256): string {
  return hash.copy().digest('hex').slice(0, MARK_HEX_CHARS);
}
