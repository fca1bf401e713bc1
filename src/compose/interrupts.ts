/** Wishes to stop that reach the process: the first time to stop in order, the second time at once. */
export interface Interrupts {
  /** Listens to signals and how many there have been; returns what ends the listening. While nobody listens, a signal ends the process. */
  listen(listener: (signal: string, count: number) => void): () => void;
}

/** For a caller that ends a call by its signal alone. */
export const NO_INTERRUPTS: Interrupts = { listen: () => () => {} };
