/** Measures for how long a run has waited for answers, all waits together. */
export class WaitingClock {
  #endedMs = 0;
  #sinceMs: number | undefined;

  /** Whether the run waits at this moment. */
  get runs(): boolean {
    return this.#sinceMs !== undefined;
  }

  get waitedMs(): number {
    return this.#endedMs + (this.#sinceMs === undefined ? 0 : performance.now() - this.#sinceMs);
  }

  start(): void {
    this.#sinceMs ??= performance.now();
  }

  stop(): void {
    this.#endedMs = this.waitedMs;
    this.#sinceMs = undefined;
  }
}
