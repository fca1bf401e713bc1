/** A run that wants to go to work. */
export interface QueuedRun {
  run_id: string;
  tool: string;
  /** An orchestrator waits for runs of its own: it takes no place from them. */
  needsSlot: boolean;
}

/** How many may work at once, and how often a tool may be started. Null is without a limit. */
export interface QueueLimits {
  maxRuns: number | null;
  rate: { calls: number; perS: number } | null;
  /** Those of one group take no more than so many places together. */
  group?: { id: string; maxRuns: number } | null;
}

/** Why a run still waits, for its log: in words, and the runs that are at work. */
export interface QueueWait {
  why: string;
  working: string[];
}

/** A run's right to work. */
export interface QueueSlot {
  /** Gives the place to the next one. After a success, a tool that was slowed down may have one more run at once. */
  leave(ending: { completed: boolean }): Promise<void>;
  /**
   * The service behind the tool has refused it for now (E_RATE_LIMIT): half as many runs of the tool may work at once from
   * now on. The place is given back; the run enters again.
   */
  slowDown(): Promise<void>;
}

/**
 * The port to who runs next (architecture, "two ports"): first come, first served, within the limits. A place whose holder
 * is dead is free. Every implementation passes `test/contracts/run-queue.ts`.
 */
export interface RunQueue {
  /**
   * Waits for a place; undefined when `signal` ended the wait, and then nothing of the run is left in the queue. `onWait` is
   * told, once, when there is no place at once.
   */
  enter(
    run: QueuedRun,
    limits: QueueLimits,
    options: { signal: AbortSignal; onWait: (wait: QueueWait) => void | Promise<void> },
  ): Promise<QueueSlot | undefined>;
}
