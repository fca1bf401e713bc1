import * as z from 'zod';
import type { CliApp } from '../cli-app.ts';
import { errorsSchema } from '../error-row.ts';
import { defineOperation } from '../operation.ts';
import { calledAs } from '../write-command.ts';
import { noSuch, READS } from './reads.ts';

export function errorsCommand<C>(app: CliApp<C>) {
  const { errors: table = {} } = app;
  return defineOperation({
    ...READS,
    name: 'system.errors',
    summary: 'Describe the error codes: class, exit code, and what to do.',
    input: z.object({ code: z.string().optional().describe('Only this code.') }),
    output: errorsSchema,
    positionals: ['code'],
    list: 'codes',
    example: `${calledAs(app)} errors E_USAGE`,
    run: async ({ code: wanted }) => {
      const all = Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));
      const found = all.filter(([code]) => wanted === undefined || code === wanted);
      const known = all.map(([code]) => code);
      if (wanted !== undefined && found.length === 0) throw noSuch('error code', wanted, known);
      const codes = found.map(([code, { class: errorClass, retryable, exit, action, hint }]) => ({
        ...{ code, class: errorClass, retryable, exit, action, hint },
      }));
      return { kind: 'data', data: { codes } };
    },
  });
}
