import * as z from 'zod';
import { buildCatalog, catalogSchema } from '../catalog.ts';
import type { CliApp } from '../cli-app.ts';
import { defineOperation } from '../operation.ts';
import { calledAs } from '../write-command.ts';
import { READS } from './reads.ts';

export function catalogCommand<C>(app: CliApp<C>) {
  return defineOperation({
    ...READS,
    name: 'system.tools',
    summary: 'Describe every command: parameters, output, effect, example.',
    input: z.object({ name: z.string().optional().describe('Only this command.') }),
    output: catalogSchema,
    positionals: ['name'],
    list: 'tools',
    example: `${calledAs(app)} tools`,
    run: async ({ name }) => ({ kind: 'data', data: await buildCatalog(app, name) }),
  });
}
