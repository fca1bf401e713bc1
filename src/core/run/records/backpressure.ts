import type { ControlListener } from '../../ports/control-channel.ts';
import type { RunLog } from '../../ports/run-store.ts';

/** How far a run may be ahead of the run that reads its records, in bytes of its log. */
const MAX_WINDOW_BYTES = 4 << 20;

/**
 * Pauses a tool that is too far ahead of the next one in its pipe. It is not paused before the next tool reads its first record, because
 * the next tool may be waiting for this tool's queue slot.
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
    if (this.#log.bytes - this.#consumed <= MAX_WINDOW_BYTES) return false;
    const consumed = this.#control.consumed();
    if (consumed === undefined) return false;
    this.#consumed = consumed;
    return this.#log.bytes - consumed > MAX_WINDOW_BYTES;
  }
}
