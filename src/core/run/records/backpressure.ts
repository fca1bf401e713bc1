import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { RunLayout } from '../../store-files/layout.ts';
import type { RunWriter } from '../../store-files/run-store.ts';

/** How far a run may be ahead of the run that reads its records, in bytes of its log. */
const MAX_LEAD_BYTES = 4 << 20;
const DIGITS = 16;

/**
 * Whether a tool must wait for the next one in its pipe. Until that one has begun to read it need not: the next tool may be waiting for
 * the queue slot that this tool holds.
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

/** Reports to the supervisor of a run how many bytes of its log the reading run has consumed. */
export class PaceReport {
  readonly #fd: number;

  constructor({ taken }: RunLayout) {
    this.#fd = openSync(taken, 'w', 0o600);
    this.report(0);
  }

  report(bytes: number): void {
    // Always the same length, in one write, so that the supervisor reads a whole number.
    writeSync(this.#fd, String(bytes).padStart(DIGITS, '0'), 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** How many bytes were consumed; undefined while no run reads this log. */
function takenBytes({ taken }: RunLayout): number | undefined {
  try {
    const text = readFileSync(taken, 'utf8');
    return text.length === DIGITS ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
