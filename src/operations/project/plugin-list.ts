import * as z from 'zod';
import { acorOperation } from '../define.ts';

const STATES = { valid: 'approved', missing: 'not_approved', stale: 'changed', broken: 'broken' } as const;

const line = z.object({
  name: z.string().describe('The name of the plugin: that of its file.'),
  file: z.string(),
  state: z
    .enum(['approved', 'not_approved', 'changed', 'broken'])
    .describe('changed: it was approved, and then changed. broken: its files cannot be read.'),
  hooks: z
    .array(z.string())
    .nullable()
    .describe('What it takes part in, languages included; null when it is not loaded.'),
  problems: z.array(z.string()).describe('Why it does not run.'),
});

export const pluginList = acorOperation({
  name: 'plugin.list',
  summary: 'List the plugins of this project: their approval, their hooks, and how to approve them.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.object({ plugins: z.array(line) }),
  list: 'plugins',
  example: 'acor plugins list',
  async run(_input, ctx) {
    const { plugins } = await ctx.app.project();
    if (plugins === undefined) return { kind: 'data', data: { plugins: [] } };
    const loaded = await plugins.ready();
    const lines = plugins.found.map(({ name, file, approval }) => {
      const own = loaded.find((each) => each.name === name);
      return {
        name,
        file,
        state: STATES[approval.state],
        hooks: own === undefined ? null : [...own.hooks, ...(own.languages.length > 0 ? ['languages'] : [])],
        problems: plugins.failures.filter(({ plugin }) => plugin === name).map(({ text }) => text),
      };
    });
    return { kind: 'data', data: { plugins: lines }, next: plugins.next };
  },
});
