import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { runFlags } from './run-flags.ts';
import { output } from './run-start.ts';
import { startProgram } from './start-program.ts';

const list = z.array(z.string()).default([]);

export const runExec = acorOperation({
  name: 'run.exec',
  summary: 'Run any program or script with the sandbox, limits and record of a tool.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    program: z.string().describe('A program on the PATH, or the path of a program or script.'),
    args: list.describe(
      'Its arguments. One that names an existing file is granted for reading; with . it starts in the current folder.',
    ),
    read: list.describe(
      'A file or folder that it may read; - gives it your standard input. It starts in the current folder when that is granted.',
    ),
    write: list.describe(
      'A file or folder that it may write: where it is, but a file that is an argument is replaced when the run completes.',
    ),
    net: list.describe('A host that it may access, as host:port.'),
    cmd: list.describe('A further program that it may start.'),
    ...runFlags,
  }),
  output,
  positionals: ['program'],
  passthrough: 'args',
  example: 'acor exec -- wc -l README.md',
  moreExamples: [
    'acor exec --read . -- git log --oneline',
    'acor exec --read - -- sort < names.txt',
    'acor exec --write out.csv -- sort -o out.csv in.csv',
  ],
  streams: 'Protocol events, one JSON object a line; the last line is runner_end.',
  run: startProgram,
});
