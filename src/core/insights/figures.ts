import type { RunRecord } from '../../protocol/run-record.ts';

/** The figures of one tool over the runs that were read. Times in seconds, cost in US dollars. */
export interface ToolFigures {
  tool: string;
  runs: number;
  failed: number;
  /** Attempts after the first. */
  retried: number;
  median_s: number | null;
  p95_s: number | null;
  total_s: number;
  /** Null when no run reported a cost. */
  cost_usd: number | null;
  /** How many runs ended with each error code, the most frequent first. */
  codes: { code: string; runs: number }[];
}

/** The figures by tool, those that took the most time first. */
export function toolFigures(runs: readonly RunRecord[]): ToolFigures[] {
  return [...Map.groupBy(runs, ({ tool }) => tool)]
    .map(([tool, own]) => figuresOf(tool, own))
    .sort((a, b) => b.total_s - a.total_s);
}

function figuresOf(tool: string, runs: readonly RunRecord[]): ToolFigures {
  const times = durationsOf(runs);
  const costs = runs.flatMap(({ cost_usd }) => cost_usd ?? []);
  const codes = Map.groupBy(
    runs.filter(({ code }) => code !== null),
    ({ code }) => code!,
  );
  return {
    tool,
    runs: runs.length,
    failed: runs.filter(({ state }) => state === 'failed').length,
    retried: sum(runs.map(({ attempt }) => attempt - 1)),
    median_s: quantile(times, 0.5),
    p95_s: quantile(times, 0.95),
    total_s: round(sum(times)),
    cost_usd: costs.length === 0 ? null : sum(costs),
    codes: [...codes].map(([code, own]) => ({ code, runs: own.length })).sort((a, b) => b.runs - a.runs),
  };
}

/** The durations of runs in seconds, the shortest first. */
export function durationsOf(runs: readonly RunRecord[]): number[] {
  return runs.flatMap(({ duration_s }) => duration_s ?? []).sort((a, b) => a - b);
}

/** The value below or at which this share of the sorted values is. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
