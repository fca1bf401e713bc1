import type { Interrupts } from '../../compose/interrupts.ts';

/** The signals that reach this process. */
export class ProcessInterrupts implements Interrupts {
  readonly #listeners = new Set<(signal: string, count: number) => void>();
  #count = 0;

  /** Whether there is a listener; without one a signal ends the process. */
  get isHandled(): boolean {
    return this.#listeners.size > 0;
  }

  /** Counts a signal and reports it to the listeners. */
  raise(signal: string): void {
    this.#count++;
    for (const listener of this.#listeners) listener(signal, this.#count);
  }

  listen(listener: (signal: string, count: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
