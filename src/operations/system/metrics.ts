import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { warningsOf } from '../run/missing-words.ts';
import { type MetricFamily, metricFamily } from './metrics/metric-family.ts';
import { readMetrics } from './metrics/read-metrics.ts';

export const metrics = acorOperation({
  name: 'system.metrics',
  summary: 'Print counters of the runs of this project, in the text format of Prometheus.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.object({ families: z.array(metricFamily) }),
  list: 'families',
  example: 'acor metrics',
  moreExamples: ['acor metrics --json --fields name,help'],
  async run(_, ctx) {
    const { index: openIndex, store } = await ctx.app.project();
    const index = await openIndex();
    const families = await readMetrics(index, store);
    for (const warning of await warningsOf(index, store)) ctx.note(warning);
    return { kind: 'document', document: families.map(textOf).join(''), data: { families } };
  },
});

function textOf({ name, type, help, samples }: MetricFamily): string {
  const lines = samples.map((sample) => `${sample.name}${labelsOf(sample.labels)} ${sample.value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
