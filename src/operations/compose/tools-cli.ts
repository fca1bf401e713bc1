import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { callOperation } from '../../compose/call-operation.ts';
import type { CliApp } from '../../compose/cli-app.ts';
import { defineCli } from '../../compose/define-cli.ts';
import type { HealthCheck } from '../../compose/health-shape.ts';
import type { Operation } from '../../compose/operation.ts';
import { inputsOf } from '../../core/registry/input-schema.ts';
import { jsonWords } from '../../core/registry/json-words.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { ERROR_CODES, errorInfo } from '../../protocol/error-codes.ts';
import type { InputSpec } from '../../protocol/manifest.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import type { AcorApp } from '../acor-app.ts';

/** What the commands of the wrapper work with. */
interface Wrapped {
  app: AcorApp;
  tools: readonly ToolEntry[];
}

/** The command line of a program for agents: each tool of its category is a command that answers with an envelope. */
export function toolsCli(program: string, wrapped: Wrapped): CliApp<Wrapped> {
  const commands = Object.fromEntries(wrapped.tools.map((tool) => commandOf(program, tool)));
  const [first] = wrapped.tools;
  return defineCli<Wrapped>({
    name: program,
    // The name alone is that of the program itself.
    callAs: `acor compose call ${program}`,
    version: first?.manifest.version ?? '0.0.0',
    summary: `${program}, by tools of ACOR: each command is a run with limits and a record.`,
    commands,
    errors: Object.fromEntries(
      Object.keys(ERROR_CODES).map((code) => [code, wrapped.app.errorInfo(code) ?? errorInfo(code)!]),
    ),
    context: () => wrapped,
    checks: ({ tools }) => tools.map(checkOf),
    settings: async ({ app }) => {
      const { config } = await app.project();
      return [
        { key: 'project', value: config.root, source: config.file ?? 'default' },
        ...Object.entries(config.config.environment).map(([key, value]) => ({
          key: `environment.${key}`,
          value,
          source: config.origins[`environment.${key}`]?.source ?? 'default',
        })),
      ];
    },
  });
}

/** ACOR as the application whose operation runs the tool. */
function cliOf(app: AcorApp): CliApp<AcorApp> {
  return {
    name: 'acor',
    version: ACOR_VERSION,
    summary: 'Runs the tools.',
    routes: app.routes,
    errorInfo: (code) => app.errorInfo(code),
    warnings: () => app.warnings,
    openContext: () => app,
  };
}

function checkOf({ name, problems, manifestPath }: ToolEntry): HealthCheck {
  const [problem] = problems;
  if (problem === undefined) return { name, status: 'ok', detail: manifestPath ?? name };
  return { name, status: 'blocked', detail: problem.message, fix: problem.fix };
}

/** The words of a tool: `log` of `git-log`, and `run` of the tool that has the name of the program. */
export function commandOfTool(program: string, name: string): string {
  if (name === program) return 'run';
  return name.startsWith(`${program}-`) ? name.slice(program.length + 1) : name;
}

function commandOf(program: string, { name, manifest }: ToolEntry): [string, Operation<Wrapped>] {
  const command = commandOfTool(program, name);
  const inputs = inputsOf(manifest) ?? [];
  const [example] = manifest.examples;
  const operation: Operation<Wrapped> = {
    name: `${program.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.${command}`,
    summary: manifest.description ?? `Run the tool ${name}.`,
    effect: manifest.effects ?? 'writes',
    idempotent: manifest.idempotent,
    rateLimit: manifest.rate_limit ? `${manifest.rate_limit.calls}/${manifest.rate_limit.per_s}s` : null,
    input: z.object({
      ...Object.fromEntries(inputs.map((input) => [input.name, typeOf(input)])),
      ...(manifest.effects !== 'reads' && {
        dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
      }),
    }),
    output: z.object({
      items: z.array(z.unknown()).optional().describe('The list that the tool returned.'),
      value: z.unknown().optional().describe('What it returned otherwise.'),
    }),
    positionals: inputs.filter(({ positional }) => positional).map(({ name: key }) => key),
    list: 'items',
    example: ['acor compose call', program, command, ...(example?.args ?? [])].join(' '),
    async run({ dry_run = false, ...values }, { app: { app }, cwd, env, signal, note }) {
      const { runStart } = await import('../run/run-start.ts');
      const input = {
        tool: name,
        args: jsonWords(values),
        stream: false,
        dry_run,
      };
      const envelope = await callOperation(cliOf(app), runStart, input, { context: app, cwd, env, signal });
      if (!envelope.ok) {
        const { code, message, hint, details } = envelope.error;
        const row = app.errorInfo(code) ?? errorInfo(code);
        throw new AppError(code, message, { hint, details, ...(row?.exit === 2 && { exit: 2 as const }) });
      }
      const answer = envelope.data as { run_id?: string; result?: { data?: unknown } | null };
      const data = dry_run ? answer : answer.result?.data;
      // Equal calls have equal data: the id of the run is for people.
      if (answer.run_id !== undefined) note(`run ${answer.run_id}`);
      return { kind: 'data', data: Array.isArray(data) ? { items: data } : { value: data } };
    },
  };
  return [command, operation];
}

function typeOf({ type, enum: choices, multiple, required, description = '' }: InputSpec): z.ZodType {
  const one = plainTypeOf(type, choices);
  const each = multiple ? z.array(one) : one;
  return (required ? each : each.optional()).describe(description);
}

function plainTypeOf(type: InputSpec['type'], choices: InputSpec['enum']): z.ZodType {
  if (choices !== undefined && type !== 'json' && type !== 'bool')
    return z.enum(choices.map(String) as [string, ...string[]]);
  switch (type) {
    case 'int':
      return z.int();
    case 'number':
      return z.number();
    case 'bool':
      return z.boolean();
    case 'json':
      return z.unknown();
    default:
      return z.string();
  }
}
