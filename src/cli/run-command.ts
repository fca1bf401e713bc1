import { runCli } from '../compose/app.ts';
import { EXIT_BY_SIGNAL, RaisedInterrupts, SIGNALS } from '../compose/interrupts.ts';
import { isTerminal } from '../compose/is-terminal.ts';
import { acorCli } from '../operations/acor-cli.ts';
import type { Surfaces } from '../operations/surfaces.ts';
import { expectShortLife } from '../util/jit-policy.ts';

const SURFACES: Surfaces = {
  mcp: async (request) => (await import('../mcp/serve-mcp.ts')).serveMcp(request),
  http: async (request) => (await import('../http/serve-http.ts')).serveHttp(request),
  host: async (request) => (await import('../host/serve-host.ts')).serveHost(request, loadTerminal),
};

async function loadTerminal() {
  return (await import('./terminal.ts')).terminal();
}

/** Runs a command line in this process and returns its exit code. `wantsHost`: a host could have run it, if there were one. */
export async function runCommand(argv: string[], { wantsHost }: { wantsHost: boolean }): Promise<number> {
  // Compiled code takes a third of the memory of a supervisor, and a run executes most of it once.
  if (argv[0] !== 'supervise') expectShortLife();
  const interrupts = new RaisedInterrupts();
  const aborted = new AbortController();
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      aborted.abort();
      if (!interrupts.isHandled) process.exit(EXIT_BY_SIGNAL[signal]);
      interrupts.raise(signal);
    });
  }
  // A failing write detects a closed stdout; SIGPIPE must not end the process and its runs.
  process.on('SIGPIPE', () => {});
  const [stdinIsTTY, stdoutIsTTY] = await Promise.all([isTerminal(0), isTerminal(1)]);
  const acor = {
    ...acorCli({ surfaces: SURFACES }),
    terminal: loadTerminal,
  };
  const exit = await runCli(acor, argv, {
    stdoutFd: 1,
    stderrFd: 2,
    stdoutIsTTY,
    stdinIsTTY,
    columns: stdoutIsTTY ? process.stdout.columns : undefined,
    env: process.env,
    cwd: process.cwd(),
    signal: aborted.signal,
    interrupts,
    readStdin: async () => (await import('../compose/whole-stdin.ts')).readStdinText(),
    readStdinBytes: async () => (await import('../compose/whole-stdin.ts')).readStdinBytes(),
    hasUnreadStdin: async () => (await import('../util/unread-stdin.ts')).hasUnreadStdin(),
  });
  const opened = acor.opened();
  // Loaded late: most projects want no host.
  if (wantsHost && (await opened?.wantsHost()))
    await (await import('../host/keep-host.ts')).keepHost(opened!);
  return exit;
}
