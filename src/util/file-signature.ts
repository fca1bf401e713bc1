import { lstatSync } from 'node:fs';
import { errorCode } from './error-code.ts';

/** A second change within one tick of the file system's clock (at most 10 ms) does not change the timestamps. */
const CLOCK_TICK_MS = 20;

/** The signature of a path. It differs after any change of the file or of the folder's names. */
export function signatureOf(path: string): string {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ctimeNs} ${stats.size} ${stats.ino}`;
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  }
}

/** The signatures of paths, each taken before the path is read. */
export class Signatures {
  readonly #of: Record<string, string> = {};
  readonly #startedAtMs = Date.now();
  #newestMs = 0;

  take(path: string): void {
    if (Object.hasOwn(this.#of, path)) return;
    this.#of[path] = signatureOf(path);
    this.#newestMs = Math.max(this.#newestMs, changedMs(path));
  }

  /** Null when a change is so recent that its timestamp may hide another change. */
  all(): Record<string, string> | null {
    return this.#newestMs >= this.#startedAtMs - CLOCK_TICK_MS ? null : this.#of;
  }
}

function changedMs(path: string): number {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  } catch {
    return 0;
  }
}
