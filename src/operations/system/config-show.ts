import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { SEE_CONFIG } from '../../protocol/next-steps.ts';
import { nearest } from '../../util/nearest.ts';
import { acorOperation } from '../define.ts';

export const configShow = acorOperation({
  name: 'config.show',
  summary: 'Show the current configuration, and where each value comes from.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    key: z.string().optional().describe('Only keys that begin with this, such as environment.'),
  }),
  output: z.object({
    root: z.string(),
    file: z.string().nullable(),
    values: z.array(
      z.object({ key: z.string(), value: z.unknown(), source: z.string(), where: z.string().nullable() }),
    ),
  }),
  positionals: ['key'],
  list: 'values',
  example: 'acor config show environment',
  async run(input, ctx) {
    const { config: loaded } = await ctx.app.project();
    const values = flatten(loaded.config)
      .filter(([key]) => input.key === undefined || key === input.key || key.startsWith(`${input.key}.`))
      .map(([key, value]) => {
        const origin = loaded.origins[key] ?? { source: 'default' as const };
        return { key, value, source: origin.source, where: origin.where ?? null };
      });
    if (values.length === 0) throw unknownKey(String(input.key), Object.keys(loaded.origins));
    return { kind: 'data', data: { root: loaded.root, file: loaded.file, values } };
  },
});

/** The leaves of a tree, with dotted keys; a list is a leaf. */
function flatten(tree: object, prefix = ''): [string, unknown][] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isTree && Object.keys(value).length > 0
      ? flatten(value, path)
      : [[path, value] as [string, unknown]];
  });
}

function unknownKey(key: string, known: readonly string[]): AppError {
  const near = nearest(key, known);
  return new AppError('E_USAGE', `there is no setting '${key}'`, {
    hint: near === undefined ? 'List all settings.' : `Did you mean ${near}?`,
    next: [SEE_CONFIG],
  });
}
