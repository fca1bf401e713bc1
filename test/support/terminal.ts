import { spawn } from 'node:child_process';
import { shellCommand } from '../../src/util/shell-quote.ts';
import { ACOR } from './project.ts';

export interface Shown {
  code: number | null;
  /** All bytes that came to the terminal. */
  bytes: Buffer;
  text: string;
}

/**
 * Runs `acor` at a real pseudo-terminal, on stdin and stdout, as a person does. `typed` is typed once `when` is on the screen;
 * without it the person types nothing and closes the terminal's input.
 */
export async function atTerminal(
  args: readonly string[],
  options: {
    cwd: string;
    env?: Record<string, string>;
    when?: RegExp;
    typed?: string;
    beforeTyping?: () => void;
    /** Another program than `acor`. */
    command?: readonly string[];
  },
): Promise<Shown> {
  const { cwd, when, typed } = options;
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    SHELL: '/bin/sh',
    ...options.env,
  };
  const command = shellCommand(options.command ?? [ACOR, ...args]);
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const chunks: Buffer[] = [];
  let isTyped = false;
  child.stdin.on('error', () => {});
  if (when === undefined) child.stdin.end();
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (when === undefined || isTyped || !when.test(Buffer.concat(chunks).toString('utf8'))) return;
    isTyped = true;
    options.beforeTyping?.();
    child.stdin.write(typed ?? '');
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  child.stdin.end();
  const bytes = Buffer.concat(chunks);
  return { code, bytes, text: bytes.toString('utf8') };
}
