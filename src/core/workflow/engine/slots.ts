/** So many may go on at once; the others wait, first come, first served. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a place and returns how it is given back; undefined when `signal` ended the wait. */
  async take(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    if (this.#free === 0) await this.#turn(signal);
    if (signal.aborted) return undefined;
    this.#free--;
    return () => {
      this.#free++;
      this.#callNext();
    };
  }

  /** Settles when a place is there for this one, which takes it at once, or when the wait is over. */
  async #turn(signal: AbortSignal): Promise<void> {
    while (this.#free === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  #callNext(): void {
    const [next] = this.#waiting;
    next?.();
  }
}
