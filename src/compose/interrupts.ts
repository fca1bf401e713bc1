/** Requests to stop that reach the process: the first one stops in order, the second one at once. */
export interface Interrupts {
  /**
   * Calls the listener with each signal and the number of signals so far; returns the function that stops listening.
   * Without a listener, a signal ends the process.
   */
  listen(listener: (signal: string, count: number) => void): () => void;
}

/** For a caller that ends a call only through its abort signal. */
export const NO_INTERRUPTS: Interrupts = { listen: () => () => {} };

/** The signals that reach one command. */
export class RaisedInterrupts implements Interrupts {
  readonly #listeners = new Set<(signal: string, count: number) => void>();
  #count = 0;

  /** Whether there is a listener; without one a signal ends the command. */
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

export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The exit code convention for a program that a signal ended: 128 and the signal's number. */
export const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
