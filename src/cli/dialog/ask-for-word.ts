import type { OperationContext } from '../../compose/operation.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import { writeOut } from '../../compose/write-out.ts';

/** Shows lines to the person at the terminal and reads the one that they type. Only for a context that is interactive. */
export async function askForWord(
  ctx: Pick<OperationContext<unknown>, 'stdoutFd' | 'signal'>,
  lines: readonly string[],
): Promise<string> {
  // Each line is one line: what a manifest says must not look like what ACOR says of it.
  await writeOut(ctx.stdoutFd, lines.map(safeLine).join('\n'));
  const { createInterface } = await import('node:readline');
  const input = createInterface({ input: process.stdin, terminal: false });
  try {
    return await new Promise<string>((resolve) => {
      input.once('line', (line) => resolve(line.trim()));
      input.once('close', () => resolve(''));
    });
  } finally {
    input.close();
  }
}
