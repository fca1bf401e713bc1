import { AcorError } from '../../protocol/acor-error.ts';
import type { HeldLease, Lease, LeaseState, Leases } from '../ports/lease.ts';

/** Leases within one process. */
export class MemoryLeases implements Leases {
  readonly #newest = new Map<string, MemoryLease>();
  /** Epochs that are claimed while `mayTake` has not decided yet. */
  readonly #claimed = new Set<string>();

  async acquire(
    runId: string,
    epoch: number,
    { mayTake, recovers = false }: { mayTake?: () => Promise<void>; recovers?: boolean } = {},
  ): Promise<MemoryLease> {
    const claim = `${runId}@${epoch}`;
    const held = this.#newest.get(runId);
    if (this.#claimed.has(claim) || (held !== undefined && held.epoch >= epoch)) throw heldByAnother(runId);
    this.#claimed.add(claim);
    try {
      await mayTake?.();
    } finally {
      this.#claimed.delete(claim);
    }
    const lease = new MemoryLease(this.#newest, runId, epoch, recovers ? 'recovering' : 'live');
    this.#newest.set(runId, lease);
    return lease;
  }

  async inspect(runId: string): Promise<LeaseState | 'none'> {
    return this.#newest.get(runId)?.state ?? 'none';
  }

  async newest(runId: string): Promise<HeldLease | undefined> {
    return (await this.list()).find((lease) => lease.runId === runId);
  }

  async list(): Promise<HeldLease[]> {
    // Their owners are in this process, which is alive.
    const renewedMs = Date.now();
    return [...this.#newest.values()].map(({ runId, epoch, state }) => ({ runId, epoch, state, renewedMs }));
  }

  async forget(runId: string): Promise<void> {
    if (this.#newest.get(runId)?.state === 'lost') this.#newest.delete(runId);
  }

  /** Whether no later epoch has fenced the lease of this one. */
  async isHeld(runId: string, epoch: number): Promise<boolean> {
    return this.isHeldNow(runId, epoch);
  }

  /** `isHeld` without a promise. */
  isHeldNow(runId: string, epoch: number): boolean {
    return this.#newest.get(runId)?.epoch === epoch;
  }

  /** Simulates that the owner of a lease dies. */
  lose(runId: string): void {
    const lease = this.#newest.get(runId);
    if (lease !== undefined) lease.state = 'lost';
  }
}

export class MemoryLease implements Lease {
  readonly runId: string;
  readonly epoch: number;
  state: LeaseState;
  readonly #newest: Map<string, MemoryLease>;

  constructor(newest: Map<string, MemoryLease>, runId: string, epoch: number, state: LeaseState) {
    this.#newest = newest;
    this.runId = runId;
    this.epoch = epoch;
    this.state = state;
  }

  /** Whether this lease is still the run's newest. */
  isHeld(): boolean {
    return this.#newest.get(this.runId) === this;
  }

  async renew(): Promise<boolean> {
    return this.isHeld();
  }

  async release(): Promise<void> {
    if (this.isHeld()) this.#newest.delete(this.runId);
  }

  async abandon(): Promise<void> {
    this.state = 'lost';
  }
}

/** E_STORAGE: the run has a supervisor already. */
export function heldByAnother(runId: string): AcorError {
  return new AcorError('E_STORAGE', `run ${runId} already has a supervisor`);
}
