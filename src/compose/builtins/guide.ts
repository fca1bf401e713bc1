import * as z from 'zod';
import type { CliApp } from '../cli-app.ts';
import { defineOperation } from '../operation.ts';
import { calledAs } from '../write-command.ts';
import { READS } from './reads.ts';

export function guideCommand<C>(app: CliApp<C>) {
  return defineOperation({
    ...READS,
    name: 'system.explain',
    summary: 'Explain to an agent how the program is used: answers, exit codes, commands, errors.',
    input: z.object({
      format: z
        .enum(['json', 'markdown'])
        .default('json')
        .describe('markdown: the document itself. json: its sections as data.'),
    }),
    output: z.object({
      sections: z.array(z.object({ heading: z.string(), text: z.string().describe('Markdown.') })),
    }),
    list: 'sections',
    example: `${calledAs(app)} explain --format markdown`,
    run: async ({ format }) => {
      const { guideOf, guideText } = await import('../guide.ts');
      const data = { sections: await guideOf(app) };
      if (format === 'json') return { kind: 'data', data };
      return { kind: 'document', data, document: guideText(app, data.sections) };
    },
  });
}
