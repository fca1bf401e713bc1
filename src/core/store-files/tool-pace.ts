import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { readOwn } from '../../util/regular-file.ts';

interface State {
  /** How many runs may work at once since the rate limit error (E_RATE_LIMIT), and how many worked then. */
  limit?: number;
  was?: number;
  /** When its last runs started, in milliseconds since 1970, oldest first. */
  starts: number[];
}

/** The concurrency limit and the recent starts of a tool, in a small file. Change it only under the queue's lock. */
export class ToolPace {
  readonly #path: string;

  constructor(folder: string, tool: string) {
    this.#path = join(folder, `${tool}.pace`);
  }

  /** How many runs of the tool may work at once; null means no limit. */
  get limit(): number | null {
    return this.#read().limit ?? null;
  }

  /** Lowers the limit to half of the working runs, at least one. */
  lower(working: number): void {
    const state = this.#read();
    const was = Math.max(state.was ?? 0, working);
    this.#write({ ...state, limit: Math.max(1, Math.floor(working / 2)), was });
  }

  /** Raises the limit by one, and removes it when it reaches the number of runs before it was lowered. */
  raise(): void {
    const { limit, was, ...rest } = this.#read();
    if (limit === undefined) return;
    if (limit + 1 >= (was ?? 0)) this.#write(rest);
    else this.#write({ ...rest, limit: limit + 1, ...(was !== undefined && { was }) });
  }

  /** Milliseconds until one more run may be started. */
  nextInMs({ calls, perS }: { calls: number; perS: number }, nowMs = Date.now()): number {
    const recent = recentOf(this.#read().starts, perS, nowMs);
    return recent.length < calls ? 0 : recent[recent.length - calls]! + perS * 1000 - nowMs;
  }

  addStart({ perS }: { perS: number }, nowMs = Date.now()): void {
    const state = this.#read();
    this.#write({ ...state, starts: [...recentOf(state.starts, perS, nowMs), nowMs] });
  }

  #read(): State {
    // Hardly any tool has one, and making an error takes longer than to look.
    if (!existsSync(this.#path)) return { starts: [] };
    try {
      return JSON.parse(readOwn(this.#path).toString());
    } catch {
      // The file is invalid, or was removed meanwhile.
      return { starts: [] };
    }
  }

  #write(state: State): void {
    if (state.limit === undefined && state.starts.length === 0) rmSync(this.#path, { force: true });
    else writeAtomic(this.#path, JSON.stringify(state));
  }
}

/** The starts within the window. Starts in the future are ignored: they were recorded before the clock was set back. */
function recentOf(starts: readonly number[], perS: number, nowMs: number): number[] {
  return starts.filter((startMs) => startMs <= nowMs && startMs > nowMs - perS * 1000);
}
