import type { QueuedRun, QueueLimits, QueueWait } from '../ports/run-queue.ts';

/** A run in the queue. */
export interface Ticket extends QueuedRun {
  isWorking: boolean;
  /** Absent in tickets of earlier builds. */
  group?: QueueLimits['group'];
}

/** How many runs of a tool may work at once (null: no limit), and the milliseconds until the next one may start. */
export interface Pace {
  limit: number | null;
  nextInMs: number;
}

/**
 * Whether a waiting run may take a slot. `tickets` is the queue, oldest first. The working runs and the earlier runs that may start as
 * well take slots before it. A run whose tool must wait does not block the runs behind it.
 */
export function admit<T extends Ticket>(
  runId: string,
  tickets: readonly T[],
  maxRuns: number | null,
  paceOf: (ticket: T) => Pace,
): 'admitted' | (QueueWait & { nextInMs: number }) {
  const working = tickets.filter((ticket) => ticket.isWorking && ticket.needsSlot);
  const taken = [...working];
  for (const ticket of tickets) {
    if (ticket.isWorking) continue;
    const pace = paceOf(ticket);
    const why = whyNot(ticket, taken, maxRuns, pace);
    if (ticket.run_id !== runId) {
      if (why === undefined) taken.push(ticket);
      continue;
    }
    if (why === undefined) return 'admitted';
    return { why, working: working.map(({ run_id }) => run_id), nextInMs: pace.nextInMs };
  }
  throw new Error(`Internal: run ${runId} is not in the queue`);
}

function whyNot(
  { tool, group }: Ticket,
  taken: readonly Ticket[],
  maxRuns: number | null,
  { limit, nextInMs }: Pace,
): string | undefined {
  if (maxRuns !== null && taken.length >= maxRuns) return `budget.max_runs allows ${maxRuns} at once`;
  if (group && taken.filter((ticket) => ticket.group?.id === group.id).length >= group.maxRuns)
    return `max_concurrency of the workflow ${group.id} allows ${group.maxRuns} at once`;
  const ofTool = taken.filter((ticket) => ticket.tool === tool).length;
  if (limit !== null && ofTool >= limit)
    return `'${tool}' failed with E_RATE_LIMIT, so ${limit} of its runs may work at once for now`;
  if (nextInMs > 0)
    return `rate_limit of '${tool}' allows the next start in ${(nextInMs / 1000).toFixed(1)} s`;
  return undefined;
}
