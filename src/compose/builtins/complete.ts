import * as z from 'zod';
import { completionScript, SHELLS } from '../completion/scripts.ts';
import { defineOperation } from '../operation.ts';
import { READS } from './reads.ts';

export function completeCommand(program: string, asks: string) {
  return defineOperation({
    ...READS,
    name: 'system.complete',
    summary: 'Print the script that lets a shell complete commands and flags.',
    input: z.object({ shell: z.enum(SHELLS).describe('The shell.') }),
    output: z.object({ shell: z.enum(SHELLS), script: z.string() }),
    positionals: ['shell'],
    example: `${program} complete bash`,
    run: async ({ shell }) => {
      const script = completionScript(shell, program, asks);
      return { kind: 'document', data: { shell, script }, document: script };
    },
  });
}
