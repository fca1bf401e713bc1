import * as z from 'zod';
import type { CliApp } from '../cli-app.ts';
import { defineOperation } from '../operation.ts';
import { calledAs } from '../write-command.ts';
import { READS } from './reads.ts';

export function manCommand<C>(app: CliApp<C>) {
  return defineOperation({
    ...READS,
    name: 'system.man',
    summary: 'Print the manual page (roff).',
    input: z.object({}),
    output: z.object({ page: z.string() }),
    example: `${calledAs(app)} man`,
    moreExamples: [`${calledAs(app)} man | man -l -`],
    run: async () => {
      const { manualPage } = await import('../manual-page.ts');
      const page = await manualPage(app, { beginWith: `${calledAs(app)} explain` });
      return { kind: 'document', data: { page }, document: page };
    },
  });
}
