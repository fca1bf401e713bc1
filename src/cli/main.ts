#!/usr/bin/env bun
import { runCli } from '../compose/app.ts';
import type { Interrupts } from '../compose/interrupts.ts';
import { isTerminal } from '../compose/write-out.ts';
import type { Surfaces } from '../operations/acor-app.ts';
import { acorCli } from '../operations/acor-cli.ts';

/** The signals that reach this process. */
class ProcessInterrupts implements Interrupts {
  readonly #listeners = new Set<(signal: string, count: number) => void>();
  #count = 0;

  /** Whether there is a listener; without one a signal ends the process. */
  get isHandled(): boolean {
    return this.#listeners.size > 0;
  }

  /** Counts a signal and reports it to the listeners. */
  raise(signal: string): void {
    this.#count++;
    for (const listener of this.#listeners) listener(signal, this.#count);
  }

  listen(listener: (signal: string, count: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The exit code convention for a program that a signal ended: 128 and the signal's number. */
const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const SURFACES: Surfaces = {
  mcp: async (request) => (await import('../mcp/serve-mcp.ts')).serveMcp(request),
  http: async (request) => (await import('../http/serve-http.ts')).serveHttp(request),
};

const interrupts = new ProcessInterrupts();
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
  terminal: async () => (await import('./terminal.ts')).terminal(),
};
const exitCode = await runCli(acor, process.argv.slice(2), {
  stdoutFd: 1,
  stderrFd: 2,
  stdoutIsTTY,
  stdinIsTTY,
  columns: stdoutIsTTY ? process.stdout.columns : undefined,
  env: process.env,
  cwd: process.cwd(),
  signal: aborted.signal,
  interrupts,
  readStdin: async () => (await import('node:stream/consumers')).text(process.stdin),
  hasUnreadStdin: async () => (await import('./unread-stdin.ts')).hasUnreadStdin(),
});
process.exit(exitCode);
