import { showRun } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { durationsOf } from './figures.ts';
import { examplesOf, MIN_REPEATS, MIN_RUNS, type Proposal, type Rule } from './proposal.ts';

/** A tool with this share of the whole time is worth making faster. */
const MOST = 0.5;
/** Less time in all is not worth a look. */
const LEAST_S = 60;
/** This share of a tool's runs needed a second attempt. */
const OFTEN = 0.2;
/** A cost limit is this many times what the most expensive run has cost. */
const ROOM = 5;

/** The tool that takes most of the time, tools whose runs need several attempts, and runs that may cost any amount. */
export const heavy: Rule = ({ runs, maxCostUsd }) => {
  const groups = [...Map.groupBy(runs, ({ tool }) => tool)];
  const total = secondsOf(runs);
  return groups.flatMap(([tool, own]) => [
    ...slow(tool, own, { total, isOnly: groups.length === 1 }),
    ...retried(tool, own),
    ...(maxCostUsd === undefined ? expensive(tool, own, runs) : []),
  ]);
};

function slow(
  tool: string,
  own: readonly RunRecord[],
  { total, isOnly }: { total: number; isOnly: boolean },
): Proposal[] {
  const seconds = secondsOf(own);
  if (isOnly || own.length < MIN_RUNS || seconds < LEAST_S || seconds < total * MOST) return [];
  const longest = own.reduce((a, b) => ((b.duration_s ?? 0) > (a.duration_s ?? 0) ? b : a));
  return [
    {
      kind: 'slow',
      about: [tool],
      what: `Make ${tool} faster before any other tool.`,
      why: `Its ${own.length} runs took ${Math.round(seconds)} of ${Math.round(total)} s; the longest took ${longest.duration_s} s.`,
      runs: own.length,
      of: own.length,
      examples: examplesOf([longest]),
      change: null,
      next: [showRun(longest.run_id)],
    },
  ];
}

function retried(tool: string, own: readonly RunRecord[]): Proposal[] {
  const again = own.filter(({ attempt }) => attempt > 1);
  if (again.length < MIN_REPEATS || again.length < own.length * OFTEN) return [];
  const attempts = again.reduce((sum, { attempt }) => sum + attempt - 1, 0);
  const newest = again.at(-1)!;
  return [
    {
      kind: 'retried',
      about: [tool],
      what: `Find out why ${tool} needs several attempts.`,
      why: `${again.length} of ${own.length} runs needed ${attempts} further attempts.`,
      runs: again.length,
      of: own.length,
      examples: examplesOf(again),
      change: null,
      next: [showRun(newest.run_id)],
    },
  ];
}

/** Only the tool with the most expensive run: the limit is for every run. */
function expensive(tool: string, own: readonly RunRecord[], runs: readonly RunRecord[]): Proposal[] {
  const most = Math.max(0, ...runs.map(({ cost_usd }) => cost_usd ?? 0));
  const paid = own.filter(({ cost_usd }) => (cost_usd ?? 0) > 0);
  if (paid.length < MIN_RUNS || !paid.some(({ cost_usd }) => cost_usd === most)) return [];
  const limit = Math.ceil(most * ROOM * 100) / 100;
  const sum = paid.reduce((all, { cost_usd }) => all + (cost_usd ?? 0), 0);
  return [
    {
      kind: 'cost',
      about: [tool],
      what: `End a run when it has cost ${limit} USD.`,
      why: `${paid.length} runs of ${tool} cost ${sum.toFixed(2)} USD, the most expensive ${most} USD, and nothing limits a run.`,
      runs: paid.length,
      of: own.length,
      examples: examplesOf(paid.filter(({ cost_usd }) => cost_usd === most)),
      change: { kind: 'budget', key: 'max_cost_usd', value: limit },
      next: [],
    },
  ];
}

function secondsOf(runs: readonly RunRecord[]): number {
  return durationsOf(runs).reduce((sum, each) => sum + each, 0);
}
