import type { RunRecord } from '../../protocol/run-record.ts';
import type { CostCount, IndexedCost } from '../ports/run-index.ts';

const TASK_ID = '--task-id=';

/** Null for a run that cost nothing and used no tokens; its children's cost is theirs. */
export function costOf({ cost, cost_usd, args, kind }: RunRecord): IndexedCost | null {
  // Records of earlier builds have only the sum.
  if (cost_usd == null && cost?.input_tokens === undefined) return null;
  const id = kind === 'task' ? args.find((arg) => arg.startsWith(TASK_ID)) : undefined;
  return {
    task: id?.slice(TASK_ID.length) ?? null,
    isUnpriced: (cost?.unpriced?.length ?? 0) > 0,
    input_tokens: cost?.input_tokens ?? 0,
    cache_read_tokens: cost?.cache_read_tokens ?? 0,
    output_tokens: cost?.output_tokens ?? 0,
  };
}

/** The cost of one ended run as a count; undefined for a run that cost nothing. */
export function countOfRun(record: RunRecord): CostCount | undefined {
  const { tool, caller, ended_at, cost_usd = null } = record;
  const cost = costOf(record);
  if (cost === null || ended_at === null) return undefined;
  const { isUnpriced, ...more } = cost;
  return {
    tool,
    caller,
    day: ended_at.slice(0, 10),
    runs: 1,
    cost_usd,
    unpriced: isUnpriced ? 1 : 0,
    ...more,
  };
}
