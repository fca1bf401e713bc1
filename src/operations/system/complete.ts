import * as z from 'zod';
import { completeCommand } from '../../compose/builtins/complete.ts';
import { completeLine } from '../../compose/completion/complete-line.ts';
import { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { completionValues } from './completion-values.ts';

export const complete = acorOperation({
  ...completeCommand('acor', 'complete-words'),
  summary: 'Print the script that lets a shell complete commands, tools, their flags, runs and answers.',
  moreExamples: [
    'eval "$(acor complete bash)"',
    'source <(acor complete zsh)',
    'acor complete fish | source',
    'acor complete powershell | Out-String | Invoke-Expression',
  ],
});

/** The command that the scripts of `acor complete` start at each Tab. */
export const completeWords = acorOperation({
  name: 'system.complete-words',
  summary: 'Complete the last word of a command line.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    words: z.array(z.string()).default([]).describe('The words after the name of the program.'),
  }),
  output: z.object({
    files: z.boolean(),
    candidates: z.array(z.object({ value: z.string(), about: z.string() })),
  }),
  positionals: ['words'],
  example: 'acor complete-words -- run ""',
  async run({ words }, ctx) {
    const cwd = cwdOf(words) ?? ctx.cwd;
    const { routes } = ctx.app;
    const app = new AcorApp({ routes, cwd, env: ctx.env });
    const data = await completeLine({ routes }, words, async () => app, completionValues);
    const lines = data.candidates.map(({ value, about }) => (about === '' ? value : `${value}\t${about}`));
    return { kind: 'document', data, document: [data.files ? 'files' : 'words', ...lines, ''].join('\n') };
  },
});

/** The folder of `--cwd` in the command line that the user is typing. */
function cwdOf(words: readonly string[]): string | undefined {
  const at = words.indexOf('--cwd');
  return at === -1 || at >= words.length - 2 ? undefined : words[at + 1];
}
