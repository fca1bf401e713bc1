import type * as z from 'zod';
import { BASE_ERRORS } from './base-errors.ts';
import type { Setting } from './builtins/config.ts';
import { builtins } from './builtins/index.ts';
import type { AppErrorInfo, CliApp, CliIo, Route, StartGroup } from './cli-app.ts';
import type { ValuesOf } from './completion/values-of.ts';
import type { GlobalFlags } from './globals.ts';
import type { HealthCheck } from './health-shape.ts';
import type { Operation } from './operation.ts';
import { type Hooks, strictly, withKitInputs } from './strict.ts';

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
  /** The words that call it, where these are not its name. */
  callAs?: string;
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
  /** What `config show` shows besides the inputs that have a key in the configuration. */
  settings?: (context: C) => Promise<Setting[]> | Setting[];
  /** What every operation gets as `ctx.app`; opened once for each command line. */
  context?: (globals: GlobalFlags, io: CliIo) => C | Promise<C>;
  /** Closes the context after the command. */
  close?: (context: C) => void | Promise<void>;
  /** Functions before and after every call. */
  hooks?: Hooks<C>;
  /** The values of an input, for completion and for the person who is asked for it. */
  values?: ValuesOf<C>;
  aliases?: Readonly<Record<string, string>>;
  /** The first page of the help. */
  start?: readonly StartGroup[];
}

/**
 * Makes an application of a declaration: its commands, the base error codes, and the built-in commands. A command of the
 * declaration replaces the built-in one of the same words.
 */
export function defineCli<C = undefined>(definition: CliDefinition<C>): CliApp<C> {
  const { name, callAs, version, summary, commands, context, close, hooks, values, aliases, start } =
    definition;
  const errors = { ...BASE_ERRORS, ...definition.errors };
  const own = Object.entries(commands).map(([command, each]) => routeOf(command, each));
  const app: CliApp<C> = {
    name,
    ...(callAs !== undefined && { callAs }),
    version,
    summary,
    routes: [],
    ...(aliases !== undefined && { aliases }),
    ...(start !== undefined && { start }),
    ...(values !== undefined && { values: async () => values }),
    ...(close !== undefined && { closeContext: close }),
    errors,
    errorInfo: (code) => errors[code],
    openContext: (globals, io) => context?.(globals, io) ?? (undefined as C),
    asksForMissing: true,
    perform: strictly({ name, errorInfo: (code) => errors[code] }, hooks),
    layers: async (io) => (await import('./config-layers.ts')).readLayers(name, io),
    terminal: async () => (await import('./plain-person.ts')).plainTerminal,
  };
  const further = builtins(app, { checks: definition.checks, settings: definition.settings });
  const isOwn = (command: string) => own.some((route) => route.command === command);
  return Object.assign(app, { routes: [...own, ...further.filter(({ command }) => !isOwn(command))] });
}

/** `defineOperation` and `defineCli` of an application whose operations get a `C` as `ctx.app`, without writing its type at each. */
export function createKit<C>(): {
  defineOperation: <I extends z.ZodObject, O extends z.ZodType>(op: Operation<C, I, O>) => Operation<C, I, O>;
  defineCli: (definition: CliDefinition<C>) => CliApp<C>;
} {
  return { defineOperation: (op) => op, defineCli: (definition) => defineCli<C>(definition) };
}

function routeOf<C>(command: string, each: Operation<C> | LazyCommand<C>): Route<C> {
  if ('load' in each) {
    let loaded: Promise<Operation<C>> | undefined;
    return { command, ...each, load: () => (loaded ??= each.load().then(withKitInputs)) };
  }
  const op = withKitInputs(each);
  return {
    operation: op.name,
    command,
    ...(op.positionals !== undefined && { positionals: op.positionals }),
    ...(op.passthrough !== undefined && { passthrough: op.passthrough }),
    load: async () => op,
  };
}
