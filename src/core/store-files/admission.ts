import type { QueuedRun, QueueLimits, QueueWait } from '../ports/run-queue.ts';

/** A run as it stands in the queue. */
export interface Ticket extends QueuedRun {
  isWorking: boolean;
  /** Left out in tickets of earlier builds. */
  group?: QueueLimits['group'];
}

/** How many runs of a tool may work at once (null: any number), and when the next one may be started. */
export interface Pace {
  limit: number | null;
  nextInMs: number;
}

/**
 * Whether a run that waits may go to work, as the queue stands (oldest first): there must be a place beside those that
 * work, and beside those that came before it and may go as well. One whose tool has to wait does not hold up the others.
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
  throw new Error(`Internal: run ${runId} does not stand in the queue`);
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
    return `'${tool}' was refused with E_RATE_LIMIT, so ${limit} of its runs may work at once for now`;
  if (nextInMs > 0)
    return `rate_limit of '${tool}' allows the next start in ${(nextInMs / 1000).toFixed(1)} s`;
  return undefined;
}
