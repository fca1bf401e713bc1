import * as z from 'zod';
import { buildCatalog, catalogSchema, shortCatalog, shortCatalogSchema } from '../../compose/catalog.ts';
import { acorOperation } from '../define.ts';

export const toolCatalog = acorOperation({
  name: 'system.tools',
  summary: 'Describe every command of ACOR itself: parameters, output, examples.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    name: z.string().optional().describe('Only this operation, by its dotted name or its command.'),
    full: z
      .boolean()
      .default(false)
      .describe('All parameters and schemas of every command, not one line each.'),
  }),
  output: z.lazy(() => z.union([catalogSchema, shortCatalogSchema])),
  positionals: ['name'],
  list: 'tools',
  example: 'acor tools run.start',
  moreExamples: ['acor tools', 'acor tools --full'],
  async run(input, { app }) {
    const registry = { name: 'acor', routes: app.routes };
    if (input.name === undefined && !input.full) return { kind: 'data', data: await shortCatalog(registry) };
    return { kind: 'data', data: await buildCatalog(registry, input.name) };
  },
});
