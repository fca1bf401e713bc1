#!/usr/bin/env bun
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { runCli } from '../compose/app.ts';
import { acorCli } from '../operations/acor-cli.ts';
import { Interrupts } from '../operations/interrupts.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What a shell expects of a program that a signal ended: 128 and the signal's number. */
const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const interrupts = new Interrupts();
const aborted = new AbortController();
for (const signal of SIGNALS) {
  process.on(signal, () => {
    aborted.abort();
    if (!interrupts.isHandled) process.exit(EXIT_BY_SIGNAL[signal]);
    interrupts.raise(signal);
  });
}
// A closed stdout is told by the write that meets it, not by a signal that ends the process and its runs.
process.on('SIGPIPE', () => {});

const exitCode = await runCli(acorCli(interrupts), process.argv.slice(2), {
  stdoutFd: 1,
  stderrFd: 2,
  stdoutIsTTY: isatty(1),
  stdinIsTTY: isatty(0),
  columns: isatty(1) ? process.stdout.columns : undefined,
  env: process.env,
  cwd: process.cwd(),
  signal: aborted.signal,
  readStdin: () => text(process.stdin),
});
process.exit(exitCode);
