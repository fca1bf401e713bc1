import type { RunWriter } from '../../store-files/run-store.ts';
import { takenBytes } from './reader-pace.ts';

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
