import * as z from 'zod';
import { completionScript, SHELLS } from '../../compose/completion/scripts.ts';
import { acorOperation } from '../define.ts';

export const complete = acorOperation({
  name: 'system.complete',
  summary: 'Print the script that lets a shell complete commands, tools, their flags, runs and answers.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ shell: z.enum(SHELLS).describe('The shell.') }),
  output: z.object({ shell: z.enum(SHELLS), script: z.string() }),
  positionals: ['shell'],
  example: 'acor complete bash',
  moreExamples: [
    'eval "$(acor complete bash)"',
    'source <(acor complete zsh)',
    'acor complete fish | source',
  ],
  async run({ shell }) {
    const script = completionScript(shell, 'acor', 'complete-words');
    return { kind: 'document', data: { shell, script }, document: script };
  },
});
