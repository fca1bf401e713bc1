import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { RunLayout } from '../../store-files/layout.ts';

const DIGITS = 16;

/** Tells the supervisor of a run how many bytes of its log were taken by the one that reads it. */
export class PaceTeller {
  readonly #fd: number;

  constructor({ taken }: RunLayout) {
    this.#fd = openSync(taken, 'w', 0o600);
    this.emit(0);
  }

  emit(bytes: number): void {
    // Always as long, in one write: whoever reads it finds a whole number.
    writeSync(this.#fd, String(bytes).padStart(DIGITS, '0'), 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** How many bytes were taken; undefined while nobody reads the run's log in this way. */
export function takenBytes({ taken }: RunLayout): number | undefined {
  try {
    const text = readFileSync(taken, 'utf8');
    return text.length === DIGITS ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
