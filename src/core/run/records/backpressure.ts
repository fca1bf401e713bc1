import type { ControlListener } from '../../ports/control-channel.ts';
import type { RunLog } from '../../ports/run-store.ts';

/** How far a run may be ahead of the run that reads its records, in bytes of its log. */
const MAX_LEAD_BYTES = 4 << 20;

/**
 * Whether a tool must wait for the next one in its pipe. Until that one has begun to read it need not: the next tool may be waiting for
 * the queue slot that this tool holds.
 */
export class BackpressureWindow {
  readonly #log: RunLog;
  readonly #control: ControlListener;
  #consumed = 0;

  constructor(log: RunLog, control: ControlListener) {
    this.#log = log;
    this.#control = control;
  }

  get isFull(): boolean {
    if (this.#log.bytes - this.#consumed <= MAX_LEAD_BYTES) return false;
    const consumed = this.#control.consumed();
    if (consumed === undefined) return false;
    this.#consumed = consumed;
    return this.#log.bytes - consumed > MAX_LEAD_BYTES;
  }
}
