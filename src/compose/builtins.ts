import * as z from 'zod';
import { AppError } from './app-error.ts';
import { buildCatalog, catalogSchema } from './catalog.ts';
import type { AppErrorInfo, CliApp, Route } from './cli-app.ts';
import { completeLine } from './completion/complete-line.ts';
import { completionScript, SHELLS } from './completion/scripts.ts';
import { type HealthCheck, healthReport, reportAnswer } from './health-shape.ts';
import { defineOperation, type Operation } from './operation.ts';

/** One setting, its value, and where the value comes from. */
export interface Setting {
  key: string;
  value: unknown;
  /** For example `default`, a file, or a variable. */
  source: string;
}

interface Parts<C> {
  table: Readonly<Record<string, AppErrorInfo>>;
  checks: ((context: C) => Promise<HealthCheck[]> | HealthCheck[]) | undefined;
  settings: ((context: C) => Promise<Setting[]> | Setting[]) | undefined;
}

const READS = { effect: 'reads', idempotent: true, rateLimit: null } as const;
/** The command that the completion scripts call at each Tab. */
const ASKS = 'complete-words';

/** The commands that every application of the kit has. */
export function builtins<C>(app: CliApp<C>, { table, checks, settings }: Parts<C>): Route<C>[] {
  const { name } = app;
  const tools = defineOperation({
    ...READS,
    name: 'system.tools',
    summary: 'Describe every command: parameters, output, effect, example.',
    input: z.object({ name: z.string().optional().describe('Only this command.') }),
    output: catalogSchema,
    positionals: ['name'],
    list: 'tools',
    example: `${name} tools`,
    run: async (input: { name?: string | undefined }) => ({
      kind: 'data' as const,
      data: await buildCatalog(app, input.name),
    }),
  });
  const health = defineOperation({
    ...READS,
    name: 'system.health',
    summary: 'Check that everything is there, with a fix for what is missing.',
    input: z.object({}),
    output: healthReport,
    list: 'checks',
    example: `${name} health`,
    run: async (_input: object, ctx: { app: C }) => reportAnswer((await checks?.(ctx.app)) ?? []),
  });
  const config = defineOperation({
    ...READS,
    name: 'config.show',
    summary: 'Show each setting, and where its value comes from.',
    input: z.object({ key: z.string().optional().describe('Only this setting.') }),
    output: z.object({
      settings: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string() })),
    }),
    positionals: ['key'],
    list: 'settings',
    example: `${name} config show`,
    run: async (input: { key?: string | undefined }, ctx: { app: C }) => {
      const all = (await settings?.(ctx.app)) ?? [];
      const found = all.filter(({ key }) => input.key === undefined || key === input.key);
      if (input.key !== undefined && found.length === 0)
        throw noSuch(
          'setting',
          input.key,
          all.map(({ key }) => key),
        );
      return { kind: 'data' as const, data: { settings: found } };
    },
  });
  const errors = defineOperation({
    ...READS,
    name: 'system.errors',
    summary: 'Describe the error codes: class, exit code, and what to do.',
    input: z.object({ code: z.string().optional().describe('Only this code.') }),
    output: z.object({
      errors: z.array(
        z.object({
          code: z.string(),
          class: z.string(),
          retryable: z.boolean(),
          exit: z.int(),
          action: z.string(),
          hint: z.string(),
        }),
      ),
    }),
    positionals: ['code'],
    list: 'errors',
    example: `${name} errors E_USAGE`,
    run: async (input: { code?: string | undefined }) => {
      const all = Object.keys(table).sort();
      if (input.code !== undefined && !all.includes(input.code)) throw noSuch('error code', input.code, all);
      const shown = all.filter((code) => input.code === undefined || code === input.code);
      return { kind: 'data' as const, data: { errors: shown.map((code) => rowOf(code, table[code]!)) } };
    },
  });
  const complete = defineOperation({
    ...READS,
    name: 'system.complete',
    summary: 'Print the script that lets a shell complete commands and flags.',
    input: z.object({ shell: z.enum(SHELLS).describe('The shell.') }),
    output: z.object({ shell: z.enum(SHELLS), script: z.string() }),
    positionals: ['shell'],
    example: `${name} complete bash`,
    run: async ({ shell }: { shell: (typeof SHELLS)[number] }) => {
      const script = completionScript(shell, name, ASKS);
      return { kind: 'document' as const, data: { shell, script }, document: script };
    },
  });
  const completeWords = defineOperation({
    ...READS,
    name: 'system.complete-words',
    summary: 'Complete the last word of a command line.',
    input: z.object({ words: z.array(z.string()).default([]).describe('The words after the program.') }),
    output: z.object({
      files: z.boolean(),
      candidates: z.array(z.object({ value: z.string(), about: z.string() })),
    }),
    positionals: ['words'],
    example: `${name} ${ASKS} -- too`,
    run: async ({ words }: { words: string[] }, ctx: { app: C }) => {
      const data = await completeLine(
        app,
        words,
        async () => ctx.app,
        async () => undefined,
      );
      const lines = data.candidates.map(({ value, about }) => (about === '' ? value : `${value}\t${about}`));
      const document = [data.files ? 'files' : 'words', ...lines, ''].join('\n');
      return { kind: 'document' as const, data, document };
    },
  });
  return [
    route('tools', tools),
    route('health', health),
    route('config show', config),
    route('errors', errors),
    route('complete', complete),
    { ...route(ASKS, completeWords), hidden: true },
  ];
}

// biome-ignore lint/suspicious/noExplicitAny: an operation is contravariant in its input.
function route<C>(command: string, op: Operation<any, any, any>): Route<C> {
  return {
    operation: op.name,
    command,
    ...(op.positionals !== undefined && { positionals: op.positionals }),
    load: async () => op,
  };
}

function rowOf(code: string, { class: errorClass, retryable, exit, action, hint }: AppErrorInfo) {
  return { code, class: errorClass, retryable, exit, action, hint };
}

function noSuch(what: string, wanted: string, known: readonly string[]): AppError {
  return new AppError('E_USAGE', `there is no ${what} '${wanted}'`, { hint: `Known: ${known.join(', ')}` });
}
