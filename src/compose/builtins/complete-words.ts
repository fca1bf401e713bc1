import * as z from 'zod';
import type { CliApp } from '../cli-app.ts';
import { completeLine } from '../completion/complete-line.ts';
import { defineOperation } from '../operation.ts';
import { calledAs } from '../write-command.ts';
import { READS } from './reads.ts';

export function completeWordsCommand<C>(app: CliApp<C>) {
  return defineOperation({
    ...READS,
    name: 'system.complete-words',
    summary: 'Complete the last word of a command line.',
    input: z.object({ words: z.array(z.string()).default([]).describe('The words after the program.') }),
    output: z.object({
      files: z.boolean(),
      candidates: z.array(z.object({ value: z.string(), about: z.string() })),
    }),
    positionals: ['words'],
    example: `${calledAs(app)} complete-words -- too`,
    run: async ({ words }, ctx: { app: C }) => {
      const valuesOf = (await app.values?.()) ?? (async () => undefined);
      const data = await completeLine(app, words, async () => ctx.app, valuesOf);
      const lines = data.candidates.map(({ value, about }) => (about === '' ? value : `${value}\t${about}`));
      const document = [data.files ? 'files' : 'words', ...lines, ''].join('\n');
      return { kind: 'document', data, document };
    },
  });
}
