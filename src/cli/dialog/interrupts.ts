/** What the person or the system at the other end asks for: the first time to stop in order, the second time at once. */
export class Interrupts {
  readonly #listeners = new Set<(signal: string, count: number) => void>();
  #count = 0;

  /** Whether somebody sees to interrupts; if nobody does, the process simply ends. */
  get isHandled(): boolean {
    return this.#listeners.size > 0;
  }

  /** Takes note of a signal and tells those who listen. */
  raise(signal: string): void {
    this.#count++;
    for (const listener of this.#listeners) listener(signal, this.#count);
  }

  /** Listens; returns what ends the listening. */
  listen(listener: (signal: string, count: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
