import * as z from 'zod';
import { captureCli } from '../../compose/capture-cli.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_TOOLS } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';

export const composeCall = acorOperation({
  name: 'compose.call',
  summary: 'Call a migrated program: its tools are commands, and each answer is one envelope.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    program: z.string().min(1).describe('The program, which is the category of its tools.'),
    args: z
      .array(z.string())
      .default([])
      .describe('The command and its flags: everything behind the program is for the wrapper.'),
  }),
  output: z.object({
    exit: z.int().describe('The exit code.'),
    answer: z.string().describe('What the command printed: an envelope, or a help text.'),
  }),
  positionals: ['program'],
  passthrough: 'args',
  example: 'acor compose call git log --max-count 3',
  moreExamples: ['acor compose call git tools'],
  async run({ program, args }, ctx) {
    const [{ toolsCli }, { registry }] = await Promise.all([import('./tools-cli.ts'), ctx.app.project()]);
    const tools = (await registry.list()).filter(({ manifest }) => manifest.category === program);
    if (tools.length === 0)
      throw new AcorError('E_TOOL_NOT_FOUND', `no tool of this project has the category '${program}'`, {
        hint: 'Migrate the program first, with `compose migrate`.',
        next: [
          { operation: 'compose.plan', input: { program }, why: 'See what a migration would write.' },
          LIST_TOOLS,
        ],
      });
    const { cwd, env, signal, readStdin, note } = ctx;
    const { exit, stdout, stderr } = await captureCli(toolsCli(program, { app: ctx.app, tools }), args, {
      ...{ cwd, env, signal, readStdin },
    });
    for (const line of stderr.split('\n')) if (line !== '') note(line);
    return { kind: 'document', document: stdout, data: { exit, answer: stdout }, programExit: exit };
  },
});
