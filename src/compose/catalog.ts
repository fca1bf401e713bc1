import * as z from 'zod';
import { nearest } from '../util/nearest.ts';
import { didYouMean, usageError } from './app-error.ts';
import type { CliApp, Route } from './cli-app.ts';
import { GLOBAL_FLAGS } from './globals.ts';
import type { Deprecation, Operation, OperationDescription } from './operation.ts';
import { elementSchemas, fieldNames, mainArrayOf } from './output-shape.ts';
import { type Parameter, parametersOf, typeName } from './parameters.ts';
import { calledAs } from './write-command.ts';

/** One operation in the catalog (seed 004). */
export interface CatalogEntry {
  /** Dotted `group.action`. */
  name: string;
  /** The full invocation without its arguments. */
  command: string;
  category: string;
  description: string;
  effect: 'reads' | 'writes' | 'destroys';
  parameters: CatalogParameter[];
  /** The names that `--fields` accepts. */
  outputFields: string[];
  outputSchema: Record<string, unknown>;
  inputSchema: Record<string, unknown>;
  idempotent: boolean;
  rateLimit: string | null;
  example: string;
  deprecated?: Deprecation | undefined;
}

/** One parameter: a flag without its dashes, or a positional. */
export interface CatalogParameter {
  name: string;
  /** With `[]` when it may be repeated. */
  type: string;
  required: boolean;
  description: string;
  default?: unknown;
  enum?: (string | number | boolean)[] | undefined;
  positional?: true | undefined;
  /** The letter of the flag. */
  short?: string | undefined;
  /** The variable that may give the value. */
  env?: string | undefined;
  /** The key of the configuration that may give the value. */
  config?: string | undefined;
  /** What to use in its place. */
  replacement?: string | undefined;
}

/** All operations of an application, as data. */
export interface Catalog {
  tools: CatalogEntry[];
  globalFlags: { name: string; type: string; required: false; description: string }[];
}

/** One operation in the short catalog: enough to choose one, and then ask for its whole entry. */
export type CatalogLine = Pick<
  CatalogEntry,
  'name' | 'command' | 'category' | 'description' | 'effect' | 'example'
>;

/** The output schema of the short catalog. */
export const shortCatalogSchema = z.lazy(() =>
  z.object({
    tools: z.array(
      z.object({
        name: z.string().describe('Dotted group.action.'),
        command: z.string().describe('The full invocation, without its arguments.'),
        category: z.string(),
        description: z.string(),
        effect: z.enum(['reads', 'writes', 'destroys']),
        example: z.string(),
      }),
    ),
  }),
);

/** All operations with one line each. */
export async function shortCatalog<C>(app: Registry<C>): Promise<{ tools: CatalogLine[] }> {
  const loaded = await loadAll(app.routes);
  const tools = loaded.map(({ command, op }) => ({
    name: op.name,
    command: `${calledAs(app)} ${command}`,
    category: categoryOf(op),
    description: op.summary,
    effect: op.effect,
    example: op.example,
  }));
  return { tools };
}

/**
 * The output schema of a `tools` command. Lazy, because creating schemas takes milliseconds that other commands do not
 * need.
 */
export const catalogSchema: z.ZodType<Catalog | CatalogEntry> = z.lazy(() => {
  const jsonSchema = z.record(z.string(), z.unknown());
  const entry = z.object({
    name: z.string().describe('Dotted group.action.'),
    command: z.string().describe('The full invocation, without its arguments.'),
    category: z.string(),
    description: z.string(),
    effect: z.enum(['reads', 'writes', 'destroys']),
    parameters: z.array(
      z.object({
        name: z.string().describe('The flag without its dashes, or the name of the positional.'),
        type: z.string().describe('With [] when it may be repeated.'),
        required: z.boolean(),
        description: z.string(),
        default: z.unknown().optional(),
        enum: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
        positional: z.literal(true).optional(),
        short: z.string().optional().describe('The letter of the flag, without its dash.'),
        env: z.string().optional().describe('The variable that gives the value where the flag is not there.'),
        config: z.string().optional().describe('The key of the configuration that gives the value.'),
        replacement: z.string().optional().describe('It is deprecated: what to use in its place.'),
      }),
    ),
    outputFields: z.array(z.string()).describe('Names that --fields accepts.'),
    outputSchema: jsonSchema.describe('JSON Schema of data.'),
    inputSchema: jsonSchema.describe('JSON Schema of --input-json.'),
    idempotent: z.boolean(),
    rateLimit: z.string().nullable(),
    example: z.string(),
    deprecated: z
      .object({ use: z.string().describe('The command that replaces it.'), since: z.string().optional() })
      .optional(),
  });
  const globalFlag = z.object({
    name: z.string(),
    type: z.string(),
    required: z.literal(false),
    description: z.string(),
  });
  return z.union([z.object({ tools: z.array(entry), globalFlags: z.array(globalFlag) }), entry]);
});

type Registry<C> = Pick<CliApp<C>, 'name' | 'callAs' | 'routes'>;

/** A route with its operation loaded. */
export interface LoadedRoute<C> {
  command: string;
  op: Operation<C>;
}

/** Loads every operation that is not hidden, ordered by category, then name. */
export async function loadAll<C>(routes: readonly Route<C>[]): Promise<LoadedRoute<C>[]> {
  const shown = routes.filter((route) => route.hidden !== true);
  const loaded = await Promise.all(shown.map(async ({ command, load }) => ({ command, op: await load() })));
  return loaded.sort(
    (a, b) =>
      compare(categoryOf(a.op), categoryOf(b.op)) ||
      compare(a.op.name, b.op.name) ||
      compare(a.command, b.command),
  );
}

/** The group of an operation's dotted name. */
export function categoryOf(op: Pick<OperationDescription, 'name'>): string {
  return op.name.split('.', 1)[0]!;
}

/** The catalog, generated from the registry; with a name (dotted, or a command), the entry of that operation. */
export async function buildCatalog<C>(app: Registry<C>, wanted?: string): Promise<Catalog | CatalogEntry> {
  const loaded = await loadAll(app.routes);
  if (wanted !== undefined) return findEntry(calledAs(app), loaded, wanted);
  return {
    tools: loaded.map(({ command, op }) => entryOf(op, `${calledAs(app)} ${command}`)),
    globalFlags: GLOBAL_FLAGS.map(({ name, type, description }) => ({
      name,
      type,
      required: false as const,
      description,
    })),
  };
}

function findEntry<C>(program: string, loaded: readonly LoadedRoute<C>[], wanted: string): CatalogEntry {
  const found = loaded.find(({ command, op }) => op.name === wanted || command === wanted);
  if (found !== undefined) return entryOf(found.op, `${program} ${found.command}`);
  const names = loaded.flatMap(({ command, op }) => [op.name, command]);
  const message = `no operation is called ${JSON.stringify(wanted)}`;
  const problem = { parameter: '<name>', message, ...didYouMean(nearest(wanted, names)) };
  throw usageError([problem], `${program} tools`);
}

function entryOf(op: OperationDescription, command: string): CatalogEntry {
  return {
    name: op.name,
    command,
    category: categoryOf(op),
    description: op.summary,
    effect: op.effect,
    parameters: parametersOf(op).map(parameterEntry),
    outputFields: outputFields(op),
    outputSchema: schemaOf(op.output, 'output'),
    inputSchema: schemaOf(op.input, 'input'),
    idempotent: op.idempotent,
    rateLimit: op.rateLimit,
    example: op.example,
    ...(op.deprecated !== undefined && { deprecated: op.deprecated }),
  };
}

function parameterEntry(parameter: Parameter): CatalogParameter {
  return {
    name: parameter.flag,
    type: typeName(parameter),
    required: parameter.isRequired,
    description: parameter.description,
    ...(parameter.default === undefined ? {} : { default: parameter.default }),
    ...(parameter.enum === undefined ? {} : { enum: [...parameter.enum] }),
    ...(parameter.isPositional ? { positional: true as const } : {}),
    ...(parameter.short !== undefined && { short: parameter.short }),
    ...(parameter.env !== undefined && { env: parameter.env }),
    ...(parameter.config !== undefined && { config: parameter.config }),
    ...(parameter.replacement !== undefined && { replacement: parameter.replacement }),
  };
}

/** The fields of the list's elements, or of the whole answer when it has no list. */
function outputFields(op: OperationDescription): string[] {
  const main = mainArrayOf(op);
  const ofElements = main === 'unknown' ? [] : fieldNames(elementSchemas(op.output, main));
  return ofElements.length > 0 ? ofElements : fieldNames([op.output]);
}

function schemaOf(schema: z.core.$ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

// By code point, so the order is the same in every locale.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
