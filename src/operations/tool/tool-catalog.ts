import * as z from 'zod';
import { buildCatalog, catalogSchema } from '../../compose/catalog.ts';
import { renderCatalog } from '../../compose/catalog-view.ts';
import { acorOperation } from '../define.ts';

export const toolCatalog = acorOperation({
  name: 'system.tools',
  summary: 'Describe every command of ACOR itself: parameters, output, examples.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    name: z.string().optional().describe('Only this one, by its dotted name or its command.'),
  }),
  output: catalogSchema,
  positionals: ['name'],
  list: 'tools',
  example: 'acor tools run.start',
  render: renderCatalog,
  async run(input) {
    const [{ acorCli }, { Interrupts }] = await Promise.all([
      import('../acor-cli.ts'),
      import('../../cli/dialog/interrupts.ts'),
    ]);
    return { kind: 'data', data: await buildCatalog(acorCli(new Interrupts()), input.name) };
  },
});
