/** A run that enters the queue. */
export interface QueuedRun {
  run_id: string;
  tool: string;
  /** False for an orchestrator: it only waits for its child runs, and must not take their slots. */
  needsSlot: boolean;
}

/** How many runs may work at once, and how often a tool may start. Null means no limit. */
export interface QueueLimits {
  maxRuns: number | null;
  rate: { calls: number; perS: number } | null;
  /** The runs of one group together take at most this many slots. */
  group?: { id: string; maxRuns: number } | null;
}

/** Why a run waits, as text for its log, and the ids of the working runs. */
export interface QueueWait {
  why: string;
  working: string[];
}

/** A queue slot: a run's right to work. */
export interface QueueSlot {
  /** Releases the slot. After a success, a lowered concurrency limit of the tool rises by one. */
  leave(ending: { completed: boolean }): Promise<void>;
  /** After E_RATE_LIMIT of the tool: halves the number of its runs that may work at once, and releases the slot. The run enters again. */
  slowDown(): Promise<void>;
}

/**
 * The port that decides which run works next: first come, first served, within the limits. A slot whose holder has died is free. Every
 * implementation passes `test/contracts/run-queue.ts`.
 */
export interface RunQueue {
  /**
   * Waits for a slot; undefined when `signal` aborted the wait, and then the run is removed from the queue. Calls `onWait` once when no
   * slot is free at first.
   */
  enter(
    run: QueuedRun,
    limits: QueueLimits,
    options: { signal: AbortSignal; onWait: (wait: QueueWait) => void | Promise<void> },
  ): Promise<QueueSlot | undefined>;
}
