import { lstatSync } from 'node:fs';
import { errorCode } from './error-code.ts';

/** A second change within one tick of the file system's clock (at most 10 ms) does not change the timestamps. */
const CLOCK_TICK_MS = 20;

/** The time of its last change, size and inode. Numbers, because to write the time as text takes as long as to ask for it. */
type FileSignature = readonly [ctimeMs: number, size: number, ino: number];

/** Of a path. It differs after any change of the file or of the folder's names. A text where there is no file: empty, or an error code. */
export type Signature = FileSignature | string;

export function signatureOf(path: string): Signature {
  return signedAt(path).signature;
}

/** Whether nothing has changed. `known` is out of a cache file, which may be damaged. */
export function isSameSignature(known: unknown, now: Signature): boolean {
  if (typeof now === 'string' || !Array.isArray(known)) return known === now;
  return known[0] === now[0] && known[1] === now[1] && known[2] === now[2];
}

/** The signatures of paths, each taken before the path is read. */
export class Signatures {
  readonly #of: Record<string, Signature> = {};
  readonly #startedAtMs = Date.now();
  #newestMs = 0;

  take(path: string): void {
    if (Object.hasOwn(this.#of, path)) return;
    const { signature, changedMs } = signedAt(path);
    this.#of[path] = signature;
    this.#newestMs = Math.max(this.#newestMs, changedMs);
  }

  /** Null when a change is so recent that its timestamp may hide another change. */
  all(): Record<string, Signature> | null {
    return this.#newestMs >= this.#startedAtMs - CLOCK_TICK_MS ? null : this.#of;
  }
}

/** `ctimeMs` has its time to a quarter of a microsecond. */
function signedAt(path: string): { signature: Signature; changedMs: number } {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { signature: '', changedMs: 0 };
    const { ctimeMs, size, ino } = stats;
    return { signature: [ctimeMs, size, ino], changedMs: ctimeMs };
  } catch (error) {
    return { signature: errorCode(error) ?? 'unknown', changedMs: 0 };
  }
}
