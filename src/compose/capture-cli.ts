import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from './app.ts';
import type { CliApp, CliIo } from './cli-app.ts';

/** What a command line wrote, and its exit code. */
export interface CapturedCall {
  exit: number;
  stdout: string;
  stderr: string;
}

/** Runs one command line in this process, with files for its streams and nothing on its standard input. */
export async function captureCli<C>(
  app: CliApp<C>,
  argv: readonly string[],
  io: Partial<CliIo> = {},
): Promise<CapturedCall> {
  const folder = mkdtempSync(join(tmpdir(), 'captured-cli-'));
  const [out, err] = [join(folder, 'out'), join(folder, 'err')] as const;
  const stdoutFd = openSync(out, 'w');
  const stderrFd = openSync(err, 'w');
  try {
    const exit = await runCli(app, [...argv], {
      stdoutIsTTY: false,
      stdinIsTTY: false,
      columns: undefined,
      env: {},
      cwd: folder,
      signal: new AbortController().signal,
      readStdin: async () => '',
      ...io,
      stdoutFd,
      stderrFd,
    });
    return { exit, stdout: readFileSync(out, 'utf8'), stderr: readFileSync(err, 'utf8') };
  } finally {
    closeSync(stdoutFd);
    closeSync(stderrFd);
    rmSync(folder, { recursive: true, force: true });
  }
}
