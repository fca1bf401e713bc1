import { AppError } from '../compose/app-error.ts';
import { Reply } from '../compose/reply.ts';
import { writeOut } from '../compose/write-out.ts';
import { acorCli } from '../operations/acor-cli.ts';
import { errorMessage } from '../util/error-code.ts';

/** Reports that the process which ran the command was killed, as the command itself would be by a kill of its own process. */
export async function reportLostHost(): Promise<number> {
  const reply = new Reply(acorCli(), {
    stdoutFd: 1,
    stderrFd: 2,
    stdoutIsTTY: false,
    stdinIsTTY: false,
    columns: undefined,
    env: process.env,
    cwd: process.cwd(),
    signal: new AbortController().signal,
    readStdin: async () => '',
  });
  return reply.thrown(
    new AppError('E_RUNNER_LOST', 'the process of the host that ran this command was killed', {
      hint: 'Find its run, and how it ended, before you repeat the command.',
      next: [{ operation: 'run.list', input: {}, why: 'Find the run.' }],
    }),
  );
}

/** Reports what kept the answer from its descriptor, as `runCli` does. */
export async function reportUnwritten(problem: unknown): Promise<number> {
  await writeOut(2, `acor: the answer could not be written: ${errorMessage(problem)}\n`).catch(() => false);
  return 1;
}
