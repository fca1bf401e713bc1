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
