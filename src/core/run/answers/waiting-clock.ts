/** Measures the total time that a run has waited for answers. */
export class WaitingClock {
  #endedMs = 0;
  #sinceMs: number | undefined;

  /** Whether the run waits now. */
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
