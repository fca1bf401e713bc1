import type { GlobalFlags } from './globals.ts';
import type { Interrupts } from './interrupts.ts';
import type { NextStep } from './next-step.ts';
import type { Operation } from './operation.ts';
import type { Terminal } from './terminal.ts';
import type { CommandForm } from './write-command.ts';

/** An operation, how it is called, and the module behind it, which is loaded only when it is called. */
export interface Route<C> extends CommandForm {
  load: () => Promise<Operation<C>>;
  /** Left out of help, catalog and suggestions. */
  hidden?: boolean;
}

/** One row of an application's error table. */
export interface AppErrorInfo {
  class: string;
  retryable: boolean;
  exit: 0 | 1 | 2;
  /** What an agent does by default. */
  action: string;
  hint: string;
  /** Shown with the hint. */
  next?: readonly NextStep[];
}

/** A command-line application: its registry of operations, and what they need to work. */
export interface CliApp<C> {
  name: string;
  version: string;
  summary: string;
  routes: readonly Route<C>[];
  errorInfo(code: string): AppErrorInfo | undefined;
  /** Called once a command, and again only where `--cwd` follows the name of a called program; `io.cwd` is the directory that it names. */
  openContext(globals: GlobalFlags, io: CliIo): C | Promise<C>;
  /** What people see and are asked; without it results are rendered in the general way. */
  terminal?: () => Promise<Terminal>;
}

/** The process around a command, as values, so that a test can be one. */
export interface CliIo {
  stdoutFd: number;
  stderrFd: number;
  stdoutIsTTY: boolean;
  stdinIsTTY: boolean;
  columns: number | undefined;
  env: Record<string, string | undefined>;
  cwd: string;
  signal: AbortSignal;
  /** Without it no operation hears of interrupts. */
  interrupts?: Interrupts;
  readStdin(): Promise<string>;
}
