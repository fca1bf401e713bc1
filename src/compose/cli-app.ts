import type { ValuesOf } from './completion/values-of.ts';
import type { ConfigLayers } from './config-layers.ts';
import type { GlobalFlags } from './globals.ts';
import type { Interrupts } from './interrupts.ts';
import type { NextStep } from './next-step.ts';
import type { Operation, PerformOperation } from './operation.ts';
import type { PlainCommand } from './plain-command.ts';
import type { Terminal } from './terminal.ts';
import type { CommandForm } from './write-command.ts';

/** An operation, its command, and its module, which is loaded only when the command is called. */
export interface Route<C> extends CommandForm {
  load: () => Promise<Operation<C>>;
  /** The same command for lines that need none of its schemas, so that none is made. Not for an application with `perform`. */
  plain?: () => Promise<PlainCommand<C>>;
  /** Omitted from help, catalog and suggestions. */
  hidden?: boolean;
  /** Only for the command line: neither an MCP server nor an HTTP server offers it. */
  shellOnly?: boolean;
}

/** One row of an application's error table. */
export interface AppErrorInfo {
  class: string;
  retryable: boolean;
  exit: 0 | 1 | 2;
  /** The default action of an agent. */
  action: string;
  hint: string;
  /** Shown with the hint. */
  next?: readonly NextStep[];
}

/** Command lines to copy, each with its purpose. */
export interface StartGroup {
  title: string;
  lines: readonly (readonly [command: string, purpose: string])[];
}

/** A command-line application: its registry of operations, and what these need. */
export interface CliApp<C> {
  name: string;
  /** The words that call it, where these are not its name: `acor compose call git`. */
  callAs?: string;
  version: string;
  summary: string;
  routes: readonly Route<C>[];
  /** The help of the program alone; without it, that is the list of all commands. */
  start?: readonly StartGroup[];
  /** Words that people of other programs type for a command. */
  aliases?: Readonly<Record<string, string>>;
  /** The command that explains how the program is used; by default `tools`. */
  beginWith?: string;
  /** The values of a parameter that is missing, for a person to choose from. */
  values?(): Promise<ValuesOf<C>>;
  /** Why there are no such values, where there are some that the command does not take. */
  whyNone?(operation: string, key: string, context: C): Promise<string | undefined>;
  /** What the caller probably meant by words that are no command; looked up only then. */
  meant?(words: readonly string[], io: CliIo): Promise<NextStep | undefined>;
  /** Asks the person at the terminal for every required input that is missing. */
  asksForMissing?: boolean;
  /** Performs every operation, in place of its `run`. */
  perform?: PerformOperation<C>;
  /** The configuration files of the user and of the folder; read for operations whose inputs have a key in them. */
  layers?(io: Pick<CliIo, 'cwd' | 'env'>): Promise<ConfigLayers>;
  /** Closes the context after the command. */
  closeContext?(context: C): void | Promise<void>;
  errorInfo(code: string): AppErrorInfo | undefined;
  /** The whole table of error codes, for an application that knows it beforehand. */
  errors?: Readonly<Record<string, AppErrorInfo>>;
  /** What the reader of every envelope should know; of the context of the command, unless another is given. */
  warnings?(context?: C): readonly string[];
  /**
   * Called once per command, and again only when `--cwd` follows the name of a called program; `io.cwd` is that
   * directory.
   */
  openContext(globals: GlobalFlags, io: CliIo): C | Promise<C>;
  /** Renderings and prompts for people; without it, results use the general rendering. */
  terminal?: () => Promise<Terminal>;
}

/** The process around a command, as values that a test can replace. */
export interface CliIo {
  stdoutFd: number;
  stderrFd: number;
  stdoutIsTTY: boolean;
  stdinIsTTY: boolean;
  columns: number | undefined;
  env: Record<string, string | undefined>;
  cwd: string;
  signal: AbortSignal;
  /** Undefined: no operation receives interrupts. */
  interrupts?: Interrupts;
  readStdin(): Promise<string>;
  /** All of standard input, whatever its bytes are. */
  readStdinBytes?(): Promise<Uint8Array>;
  /** Whether standard input holds bytes that are not read yet; it reads none. Undefined: unknown. */
  hasUnreadStdin?(): Promise<boolean>;
}
