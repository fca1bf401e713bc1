import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { RunLayout } from '../../store-files/layout.ts';
import type { RunWriter } from '../../store-files/run-store.ts';

/** How far a run may be ahead of the one that reads its records, in bytes of its log. */
const MAX_LEAD_BYTES = 4 << 20;

/**
 * Whether a tool has to wait for the next one in its pipe. As long as that one has not begun to read it need not: it may be waiting
 * for the very place among the runs of the project that this tool has.
 */
export class BackpressureWindow {
  readonly #writer: RunWriter;
  #taken = 0;

  constructor(writer: RunWriter) {
    this.#writer = writer;
  }

  get isFull(): boolean {
    const { log, layout } = this.#writer;
    if (log.bytes - this.#taken <= MAX_LEAD_BYTES) return false;
    const taken = takenBytes(layout);
    if (taken === undefined) return false;
    this.#taken = taken;
    return log.bytes - taken > MAX_LEAD_BYTES;
  }
}

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
