import type { RunRecord } from '../../protocol/run-record.ts';
import { DURATION_BOUNDS_S, type EndCount } from '../ports/run-index.ts';

/** The count of one run; undefined for a run that has not ended. */
export function endCountOf(record: RunRecord): EndCount | undefined {
  const { tool, state, ended_at, duration_s, usage, cost_usd = null } = record;
  if (ended_at === null) return undefined;
  const within = DURATION_BOUNDS_S.map((bound) => (duration_s !== null && duration_s <= bound ? 1 : 0));
  return { tool, state, runs: 1, duration_s: duration_s ?? 0, within, cpu_s: usage?.cpu_s ?? null, cost_usd };
}

/** Counts with one more, by tool and state. */
export function addCount(counts: readonly EndCount[], more: EndCount): EndCount[] {
  const at = counts.findIndex(({ tool, state }) => tool === more.tool && state === more.state);
  const before = counts[at];
  if (before === undefined) return [...counts, more];
  return counts.with(at, {
    ...more,
    runs: before.runs + more.runs,
    duration_s: before.duration_s + more.duration_s,
    within: before.within.map((count, bound) => count + more.within[bound]!),
    cpu_s: sumOf(before.cpu_s, more.cpu_s),
    cost_usd: sumOf(before.cost_usd, more.cost_usd),
  });
}

function sumOf(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0);
}
