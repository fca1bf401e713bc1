/** A lease is `lost` when its owner has died or stopped renewing it, and `recovering` while a process ends a lost run. */
export type LeaseState = 'live' | 'recovering' | 'lost';

/** The right of one supervisor to write one run. It renews itself while it is held. The store checks it in each write. */
export interface Lease {
  readonly runId: string;
  readonly epoch: number;
  /** Renews the lease now, in addition to its heartbeat. False when a later epoch has fenced it, or it was released. */
  renew(): Promise<boolean>;
  /** Removes the lease of a run that has ended. */
  release(): Promise<void>;
  /** Gives the lease up before the run has ended: the run is lost at once. */
  abandon(): Promise<void>;
}

/** A lease as readers see it. */
export interface HeldLease {
  runId: string;
  epoch: number;
  state: LeaseState;
  /** When the owner renewed it last, in milliseconds since 1970 by the clock of the store. */
  renewedMs: number;
}

/**
 * The port to the leases of runs: which run has a supervisor. Reading never writes; `core/run/recover-lost-run.ts` recovers lost runs.
 * Every implementation passes `test/contracts/lease.ts`.
 */
export interface Leases {
  /**
   * Takes the lease of an epoch. Leases of earlier epochs stay until `mayTake` has resolved, and are removed when this resolves. Throws
   * E_STORAGE when another process holds this epoch, and the errors of `mayTake`. `recovers` means that the owner only ends the run.
   */
  acquire(
    runId: string,
    epoch: number,
    options?: { mayTake?: () => Promise<void>; recovers?: boolean },
  ): Promise<Lease>;
  /** The state of a run's newest lease; `none` when it has no lease. */
  inspect(runId: string): Promise<LeaseState | 'none'>;
  /** The newest lease of a run; undefined when it has none. */
  newest(runId: string): Promise<HeldLease | undefined>;
  /** Whether this epoch has a lease, which no later one has fenced. */
  isHeld(runId: string, epoch: number): Promise<boolean>;
  /** The newest lease of each run that has one: live runs, and lost runs that need recovery. */
  list(): Promise<HeldLease[]>;
  /** Removes the lease of a lost run that needs no recovery, because it was removed or its end is recorded. A live lease stays. */
  forget(runId: string): Promise<void>;
}
