import { BASE_ERRORS } from './base-errors.ts';
import { builtins, type Setting } from './builtins.ts';
import type { AppErrorInfo, CliApp, CliIo, Route, StartGroup } from './cli-app.ts';
import type { GlobalFlags } from './globals.ts';
import type { HealthCheck } from './health-shape.ts';
import type { Operation } from './operation.ts';

/** A command that is loaded only when it is called, by a function that imports its module. */
export interface LazyCommand<C> {
  /** The dotted name of the operation. */
  operation: string;
  positionals?: readonly string[];
  load: () => Promise<Operation<C>>;
}

/** A command line, as its author declares it. */
export interface CliDefinition<C> {
  name: string;
  version: string;
  /** One sentence. */
  summary: string;
  /** The commands by their words, such as `items list`. */
  // biome-ignore lint/suspicious/noExplicitAny: an operation is contravariant in its input.
  commands: Readonly<Record<string, Operation<C, any, any> | LazyCommand<C>>>;
  /** Its error codes, beside those of the kit. */
  errors?: Readonly<Record<string, AppErrorInfo>>;
  /** What `health` checks. */
  checks?: (context: C) => Promise<HealthCheck[]> | HealthCheck[];
  /** What `config show` shows. */
  settings?: (context: C) => Promise<Setting[]> | Setting[];
  /** What every operation gets as `ctx.app`; opened once for each command line. */
  context?: (globals: GlobalFlags, io: CliIo) => C | Promise<C>;
  aliases?: Readonly<Record<string, string>>;
  /** The first page of the help. */
  start?: readonly StartGroup[];
}

/**
 * Makes an application of a declaration: its commands, the base error codes, and the built-in commands `tools`, `health`,
 * `config show`, `errors` and `complete`. A command of the declaration replaces the built-in one of the same words.
 */
export function defineCli<C = undefined>(definition: CliDefinition<C>): CliApp<C> {
  const { name, version, summary, commands, errors = {}, context, aliases, start } = definition;
  const table = { ...BASE_ERRORS, ...errors };
  const own = Object.entries(commands).map(([command, each]) => routeOf(command, each));
  const app: CliApp<C> = {
    name,
    version,
    summary,
    routes: [],
    ...(aliases !== undefined && { aliases }),
    ...(start !== undefined && { start }),
    errorInfo: (code) => table[code],
    openContext: (globals, io) => context?.(globals, io) ?? (undefined as C),
  };
  const further = builtins(app, { table, checks: definition.checks, settings: definition.settings });
  const isOwn = (command: string) => own.some((route) => route.command === command);
  return Object.assign(app, { routes: [...own, ...further.filter(({ command }) => !isOwn(command))] });
}

function routeOf<C>(command: string, each: Operation<C> | LazyCommand<C>): Route<C> {
  if ('load' in each) return { command, ...each };
  return {
    operation: each.name,
    command,
    ...(each.positionals !== undefined && { positionals: each.positionals }),
    ...(each.passthrough !== undefined && { passthrough: each.passthrough }),
    load: async () => each,
  };
}
