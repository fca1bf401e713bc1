import { Console } from 'node:console';
import { isatty } from 'node:tty';
import { runCli } from './app.ts';
import type { CliApp } from './cli-app.ts';
import { EXIT_BY_SIGNAL, SIGNALS } from './interrupts.ts';

/**
 * Runs the command line of this process and exits with its code. Everything that the program or its packages print
 * with `console` or `process.stdout` goes to stderr: stdout has only what the kit answers.
 */
export async function serve<C>(
  app: CliApp<C>,
  argv: readonly string[] = process.argv.slice(2),
): Promise<never> {
  const release = guardStdout();
  const aborted = new AbortController();
  let exitOfSignal: number | undefined;
  for (const signal of SIGNALS)
    process.once(signal, () => {
      exitOfSignal = EXIT_BY_SIGNAL[signal];
      aborted.abort();
    });
  // A failing write detects a closed stdout.
  process.on('SIGPIPE', () => {});
  const stdoutIsTTY = isatty(1);
  const exit = await runCli(app, [...argv], {
    stdoutFd: 1,
    stderrFd: 2,
    stdoutIsTTY,
    stdinIsTTY: isatty(0),
    columns: stdoutIsTTY ? process.stdout.columns : undefined,
    env: process.env,
    cwd: process.cwd(),
    signal: aborted.signal,
    readStdin: async () => (await import('./whole-stdin.ts')).readStdinText(),
    readStdinBytes: async () => (await import('./whole-stdin.ts')).readStdinBytes(),
  });
  release();
  return process.exit(exitOfSignal ?? exit);
}

/** Sends what is printed beside the answers to stderr, until the returned function is called. */
export function guardStdout(): () => void {
  const { write } = process.stdout;
  const before = globalThis.console;
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof write;
  globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr }) as typeof console;
  return () => {
    process.stdout.write = write;
    globalThis.console = before;
  };
}
