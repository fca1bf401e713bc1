import { DURATION_BOUNDS_S, type EndCount, type RunIndex } from '../../../core/ports/run-index.ts';
import type { RunStore } from '../../../core/ports/run-store.ts';
import { ACOR_VERSION } from '../../../util/version.ts';
import type { MetricFamily } from './metric-family.ts';

/** A label has at most this many values: files and programs run under names of their own, so that there may be any number. */
const MAX_TOOLS = 100;
const OTHERS = 'other';

type Sample = MetricFamily['samples'][number];

/** The counters of all runs in the index and of those that were removed, by tool. The tools with the most runs have a label of their own. */
export async function readMetrics(
  index: RunIndex,
  store: Pick<RunStore, 'removedCounts'>,
): Promise<MetricFamily[]> {
  const counts: EndCount[] = [...(await index.counts()), ...(await store.removedCounts())];
  const byTool = [...Map.groupBy(counts, labelsFor(counts))].sort(([a], [b]) => (a < b ? -1 : 1));
  const live = Map.groupBy(await index.unended(), ({ state }) => state);
  const asking = await index.questions({ isOpen: true });
  const open = asking.flatMap(({ questions }) =>
    questions.filter(({ isOpen, askedBy }) => isOpen && !askedBy),
  );
  const perTool = (name: string, sum: (counts: readonly EndCount[]) => number) =>
    byTool.map(([tool, of]) => ({ name, labels: { tool }, value: sum(of) }));
  return [
    gauge('acor_info', 'The version of ACOR.', [
      { name: 'acor_info', labels: { version: ACOR_VERSION }, value: 1 },
    ]),
    counter('acor_runs_total', 'Runs that have ended, by tool and final state.', byTool.flatMap(runSamples)),
    {
      name: 'acor_run_duration_seconds',
      type: 'histogram',
      help: 'How long the runs that have ended took, by tool.',
      samples: byTool.flatMap(durationSamples),
    },
    counter(
      'acor_cpu_seconds_total',
      'Processor time of the runs for which it is known, by tool.',
      perTool('acor_cpu_seconds_total', (of) => sumOf(of, ({ cpu_s }) => cpu_s ?? 0)),
    ),
    counter(
      'acor_cost_usd_total',
      'Cost in US dollars of the runs for which it is known, by tool.',
      perTool('acor_cost_usd_total', (of) => sumOf(of, ({ cost_usd }) => cost_usd ?? 0)),
    ),
    gauge(
      'acor_live_runs',
      'Runs that have not ended, by state.',
      [...live].map(([state, runs]) => ({ name: 'acor_live_runs', labels: { state }, value: runs.length })),
    ),
    gauge('acor_open_questions', 'Questions that wait for an answer.', [
      { name: 'acor_open_questions', labels: {}, value: open.length },
    ]),
  ];
}

/** The label of a tool. */
function labelsFor(counts: readonly EndCount[]): (count: EndCount) => string {
  const runs = new Map<string, number>();
  for (const { tool, runs: more } of counts) runs.set(tool, (runs.get(tool) ?? 0) + more);
  const most = [...runs].sort(([, a], [, b]) => b - a).slice(0, MAX_TOOLS);
  const named = new Set(most.map(([tool]) => tool));
  return ({ tool }) => (named.has(tool) ? tool : OTHERS);
}

function runSamples([tool, counts]: [string, EndCount[]]): Sample[] {
  return [...Map.groupBy(counts, ({ state }) => state)].map(([state, of]) => ({
    name: 'acor_runs_total',
    labels: { tool, state },
    value: sumOf(of, ({ runs }) => runs),
  }));
}

function durationSamples([tool, counts]: [string, EndCount[]]): Sample[] {
  const name = 'acor_run_duration_seconds';
  const total = sumOf(counts, ({ runs }) => runs);
  const buckets = DURATION_BOUNDS_S.map((bound, at) => ({
    name: `${name}_bucket`,
    labels: { tool, le: String(bound) },
    value: sumOf(counts, ({ within }) => within[at]!),
  }));
  return [
    ...buckets,
    { name: `${name}_bucket`, labels: { tool, le: '+Inf' }, value: total },
    { name: `${name}_sum`, labels: { tool }, value: sumOf(counts, ({ duration_s }) => duration_s) },
    { name: `${name}_count`, labels: { tool }, value: total },
  ];
}

function sumOf(counts: readonly EndCount[], value: (count: EndCount) => number): number {
  return counts.reduce((sum, count) => sum + value(count), 0);
}

function counter(name: string, help: string, samples: Sample[]): MetricFamily {
  return { name, type: 'counter', help, samples };
}

function gauge(name: string, help: string, samples: Sample[]): MetricFamily {
  return { name, type: 'gauge', help, samples };
}
