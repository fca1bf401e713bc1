import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { ChangeWaiter } from '../../util/change-waiter.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { removeFile, removeIfPossible } from '../../util/files.ts';
import { ownIdentity, type ProcessOwner, stateOfOwner } from '../../util/process-owner.ts';
import { readOwn, refuseLinks } from '../../util/regular-file.ts';
import type { QueuedRun, QueueLimits, QueueSlot, QueueWait, RunQueue } from '../ports/run-queue.ts';
import { admit, type Pace, type Ticket } from './admission.ts';
import { FileLeases } from './file-leases.ts';
import { storageError } from './storage-error.ts';
import { ToolPace } from './tool-pace.ts';

const FOLDER = 'queue';
const POLL_MS = 1000;
/** How many of the waiting runs check the queue at each change. A run behind them waits until one of them has left. */
const NEAR_THE_FRONT = 8;
/** Without limits no run needs the tickets. Each run checks this many, so that tickets of killed processes do not pile up. */
const TIDIED_AT_ONCE = 4;
/** A process that enters many runs checks tickets no more often. */
const BETWEEN_TIDYING_MS = 1000;

/**
 * The queue of a project as ticket files `.runs/queue/<run>.waiting` and `<run>.working`, each with the identity of the run's process.
 * Without limits a run writes its ticket and does not wait; the ticket counts when a limit is configured later.
 */
export class FileRunQueue implements RunQueue {
  readonly #root: string;
  readonly #folder: string;
  readonly #lock: string;
  readonly #leases: FileLeases;
  #tidiedAtMs = Number.NEGATIVE_INFINITY;

  constructor(root: string) {
    this.#leases = new FileLeases(root);
    this.#root = root;
    this.#folder = join(root, FOLDER);
    this.#lock = join(root, 'queue.lock');
  }

  async enter(
    run: QueuedRun,
    limits: QueueLimits,
    { signal, onWait }: { signal: AbortSignal; onWait: (wait: QueueWait) => void | Promise<void> },
  ): Promise<QueueSlot | undefined> {
    try {
      mkdirSync(this.#folder, { recursive: true });
      const isUnlimited =
        limits.maxRuns === null &&
        limits.rate === null &&
        !limits.group &&
        this.#memoryOf(run).limit === null;
      if (!run.needsSlot || isUnlimited) {
        this.#write(run, limits, 'working');
        this.#tidy(run);
        return this.#place(run);
      }
      this.#write(run, limits, 'waiting');
      return await this.#waitForPlace(run, limits, signal, onWait);
    } catch (error) {
      for (const state of STATES) removeIfPossible(this.#path(run, state));
      throw storageError(error, 'enter the queue', this.#folder);
    }
  }

  /** Removes the tickets of all killed processes. One that cannot be removed does no harm: no run counts it. */
  tidyAll(): void {
    try {
      refuseLinks(this.#root, FOLDER);
      this.#livingTickets(this.#names());
    } catch {}
  }

  async #waitForPlace(
    run: QueuedRun,
    limits: QueueLimits,
    signal: AbortSignal,
    onWait: (wait: QueueWait) => void | Promise<void>,
  ): Promise<QueueSlot | undefined> {
    let folder: ChangeWaiter | undefined;
    let hasReported = false;
    let lookAtMs = 0;
    try {
      while (!signal.aborted) {
        const { before, working } = this.#positionOf(run);
        const isNear = before.length < NEAR_THE_FRONT;
        if (isNear && folder === undefined) {
          folder = new ChangeWaiter(this.#folder, POLL_MS, { signal });
          // Check again for changes from before the watch started.
          continue;
        }
        const mayEnter = isNear && (limits.maxRuns === null || working < limits.maxRuns);
        if (performance.now() >= lookAtMs || mayEnter) {
          const verdict = await withFileLock(this.#lock, () => this.#tryToEnter(run, limits));
          if (verdict === 'entered') return this.#place(run);
          if (!hasReported) await onWait(verdict);
          hasReported = true;
          // A holder that dies changes no file, so every run polls for dead holders, those at the front more often.
          const pauseMs = POLL_MS * (1 + before.length / NEAR_THE_FRONT);
          lookAtMs = performance.now() + (verdict.nextInMs || pauseMs);
        }
        const waitMs = lookAtMs - performance.now();
        if (isNear) await folder!.change(waitMs);
        else await untilGone(join(this.#folder, before.at(-NEAR_THE_FRONT)!), waitMs, signal);
      }
      this.#forget(run);
      return undefined;
    } finally {
      folder?.close();
    }
  }

  /** Takes a slot if one is free. Call it under the lock. */
  #tryToEnter(
    run: QueuedRun,
    { maxRuns, rate }: QueueLimits,
  ): 'entered' | (QueueWait & { nextInMs: number }) {
    // Runs that wait behind this one do not matter.
    const names = this.#names().filter(
      (name) => name.endsWith('.working') || name <= `${run.run_id}.waiting`,
    );
    const verdict = admit(run.run_id, this.#livingTickets(names), maxRuns, (ticket) => this.#paceOf(ticket));
    if (verdict !== 'admitted') return verdict;
    if (rate !== null) this.#memoryOf(run).addStart(rate);
    renameSync(this.#path(run, 'waiting'), this.#path(run, 'working'));
    return 'entered';
  }

  #paceOf(ticket: StoredTicket): Pace {
    const memory = this.#memoryOf(ticket);
    return { limit: memory.limit, nextInMs: ticket.rate === null ? 0 : memory.nextInMs(ticket.rate) };
  }

  #place(run: QueuedRun): QueueSlot {
    const memory = this.#memoryOf(run);
    return {
      leave: async ({ completed }) => {
        try {
          if (completed && memory.limit !== null) await withFileLock(this.#lock, () => memory.raise());
        } finally {
          // Else the place would stay taken as long as this process lives.
          this.#forget(run);
        }
      },
      slowDown: () =>
        withFileLock(this.#lock, () => {
          const ofTool = ({ tool, isWorking }: Ticket) => isWorking && tool === run.tool;
          memory.lower(this.#livingTickets(this.#names()).filter(ofTool).length);
          this.#forget(run);
        }),
    };
  }

  #memoryOf({ tool }: { tool: string }): ToolPace {
    return new ToolPace(this.#folder, tool);
  }

  /** The tickets of the runs that wait before this one, and the number of working runs, from the file names only. */
  #positionOf({ run_id }: QueuedRun): { before: string[]; working: number } {
    const names = this.#names();
    return {
      before: names.filter((name) => name.endsWith('.waiting') && name < run_id),
      working: names.filter((name) => name.endsWith('.working')).length,
    };
  }

  /** Checks a few random tickets of other runs, and removes those of killed processes. */
  #tidy({ run_id }: QueuedRun): void {
    const nowMs = performance.now();
    if (nowMs - this.#tidiedAtMs < BETWEEN_TIDYING_MS) return;
    this.#tidiedAtMs = nowMs;
    const names = this.#names().filter((name) => name !== `${run_id}.working`);
    const from = Math.floor(Math.random() * names.length);
    this.#livingTickets(names.slice(from, from + TIDIED_AT_ONCE));
  }

  /** Reads the tickets with these names, oldest first. Removes those of dead processes. */
  #livingTickets(names: readonly string[]): StoredTicket[] {
    return names.flatMap((name) => {
      const path = join(this.#folder, name);
      const ticket = readTicket(path);
      if (ticket === undefined) return [];
      if (this.#isHeld(ticket)) return [{ ...ticket, isWorking: name.endsWith('.working') }];
      removeFile(path);
      return [];
    });
  }

  /** Whether the ticket's process is alive. A process on another host or in another PID namespace is alive while its run's lease is. */
  #isHeld({ run_id, holder }: { run_id: string; holder: ProcessOwner }): boolean {
    switch (stateOfOwner(holder)) {
      case 'running':
        return true;
      case 'gone':
        return false;
      case 'elsewhere':
        return this.#leases.stateOf(run_id) === 'live';
    }
  }

  #names(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith('.waiting') || name.endsWith('.working'))
      .sort();
  }

  #write(run: QueuedRun, { rate, group = null }: QueueLimits, state: TicketState): void {
    const ticket: Omit<StoredTicket, 'isWorking'> = { ...run, rate, group, holder: ownIdentity() };
    writeAtomic(this.#path(run, state), JSON.stringify(ticket));
  }

  #forget(run: QueuedRun): void {
    for (const state of STATES) removeFile(this.#path(run, state));
  }

  #path({ run_id }: QueuedRun, state: TicketState): string {
    return join(this.#folder, `${run_id}.${state}`);
  }
}

const STATES = ['waiting', 'working'] as const;
type TicketState = (typeof STATES)[number];

/** The content of a ticket file: the ticket, the identity of its process, and the rate limit of its manifest. */
interface StoredTicket extends Ticket {
  rate: QueueLimits['rate'];
  holder: ProcessOwner;
}

/** Waits until a ticket is renamed or removed, or the timeout. */
async function untilGone(path: string, atMostMs: number, signal: AbortSignal): Promise<void> {
  let waiter: ChangeWaiter;
  try {
    waiter = new ChangeWaiter(path, atMostMs, { signal });
  } catch {
    return;
  }
  await waiter.change();
  waiter.close();
}

/** Undefined for a ticket that was removed meanwhile, or is not valid JSON. */
function readTicket(path: string): Omit<StoredTicket, 'isWorking'> | undefined {
  try {
    return JSON.parse(readOwn(path).toString());
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
