import * as z from 'zod';

/** A metric of Prometheus with its samples. */
export const metricFamily = z.object({
  name: z.string(),
  type: z.enum(['counter', 'gauge', 'histogram']),
  help: z.string(),
  samples: z.array(
    z.object({ name: z.string(), labels: z.record(z.string(), z.string()), value: z.number() }),
  ),
});

export type MetricFamily = z.output<typeof metricFamily>;
