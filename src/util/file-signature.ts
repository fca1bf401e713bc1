import { lstatSync } from 'node:fs';
import { errorCode } from './error-code.ts';

/** A second change within one tick of the file system's clock (at most 10 ms) does not change the timestamps. */
const CLOCK_TICK_MS = 20;

/** The signature of a path. It differs after any change of the file or of the folder's names. */
export function signatureOf(path: string): string {
  return signedAt(path).signature;
}

/** The signatures of paths, each taken before the path is read. */
export class Signatures {
  readonly #of: Record<string, string> = {};
  readonly #startedAtMs = Date.now();
  #newestMs = 0;

  take(path: string): void {
    if (Object.hasOwn(this.#of, path)) return;
    const { signature, changedMs } = signedAt(path);
    this.#of[path] = signature;
    this.#newestMs = Math.max(this.#newestMs, changedMs);
  }

  /** Null when a change is so recent that its timestamp may hide another change. */
  all(): Record<string, string> | null {
    return this.#newestMs >= this.#startedAtMs - CLOCK_TICK_MS ? null : this.#of;
  }
}

/** `ctimeMs` has its time to a quarter of a microsecond. */
function signedAt(path: string): { signature: string; changedMs: number } {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { signature: '', changedMs: 0 };
    const { ctimeMs, size, ino } = stats;
    return { signature: `${ctimeMs} ${size} ${ino}`, changedMs: ctimeMs };
  } catch (error) {
    return { signature: errorCode(error) ?? 'unknown', changedMs: 0 };
  }
}
