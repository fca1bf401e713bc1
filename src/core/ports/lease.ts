/** A lease is `lost` when its owner has died or stopped renewing it, and `recovering` while a process ends a lost run. */
export type LeaseState = 'live' | 'recovering' | 'lost';

/** The right of one supervisor to write one run. It is renewed by itself for as long as it is held. */
export interface Lease {
  readonly runId: string;
  readonly epoch: number;
  /** Whether this lease is still the run's newest: asked before each write. */
  isHeld(): boolean;
  /** Renews the lease now; also done by a heartbeat. */
  renew(): Promise<void>;
  /** The run has ended: nothing of the lease is left. */
  release(): Promise<void>;
  /** The supervisor stops before the run has ended: the run is lost at once. */
  abandon(): Promise<void>;
}

/** A lease as readers see it. */
export interface HeldLease {
  runId: string;
  epoch: number;
  state: LeaseState;
}

/**
 * The port to who supervises which run. Reading never writes: recovering a lost run is an act of its own (`core/run/recover-lost-run.ts`).
 * Every implementation passes `test/contracts/lease.ts`.
 */
export interface Leases {
  /**
   * Takes the lease of an epoch. Leases of earlier epochs stay until `mayTake` has resolved, and are gone when this resolves. Throws
   * E_STORAGE when another process holds this epoch, and what `mayTake` throws. `recovers` says that the run is only to be ended.
   */
  acquire(
    runId: string,
    epoch: number,
    options?: { mayTake?: () => Promise<void>; recovers?: boolean },
  ): Promise<Lease>;
  /** Whether a run has a supervisor now; `none` when no lease of it is held. */
  inspect(runId: string): Promise<LeaseState | 'none'>;
  /** The newest lease of a run; undefined when there is none. */
  newest(runId: string): Promise<HeldLease | undefined>;
  /** The newest lease of each run that has one: live runs, and lost ones that are to be recovered. */
  list(): Promise<HeldLease[]>;
  /** Removes the lease of a lost run that needs no recovery: it was removed, or its end is recorded. A live lease stays. */
  forget(runId: string): Promise<void>;
}
