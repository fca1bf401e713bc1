/** A counting semaphore: `count` tasks run at once, the others wait in order. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot and returns the function that releases it; undefined when `signal` ended the wait. */
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

  /** Resolves when a slot was taken for this caller, or when the wait ended. */
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
