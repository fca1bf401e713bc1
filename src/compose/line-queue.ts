/** A queue of JSON lines between a producer and an asynchronous reader. */
export class LineQueue {
  readonly #waiting: Uint8Array[] = [];
  #isOver = false;
  #wake: () => void = () => {};

  /** Adds a value as a line. */
  push(value: unknown): void {
    this.#waiting.push(Buffer.from(`${JSON.stringify(value)}\n`));
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The lines until the end; for one reader. */
  async *lines(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) yield next;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
