import * as z from 'zod';
import { buildCatalog, catalogSchema } from '../../compose/catalog.ts';
import { acorOperation } from '../define.ts';

export const toolCatalog = acorOperation({
  name: 'system.tools',
  summary: 'Describe every command of ACOR itself: parameters, output, examples.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    name: z.string().optional().describe('Only this operation, by its dotted name or its command.'),
  }),
  output: catalogSchema,
  positionals: ['name'],
  list: 'tools',
  example: 'acor tools run.start',
  async run(input, { app }) {
    return { kind: 'data', data: await buildCatalog({ name: 'acor', routes: app.routes }, input.name) };
  },
});
