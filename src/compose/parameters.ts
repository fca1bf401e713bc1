import type * as z from 'zod';
import type { DurationUnit } from './duration.ts';
import type { OperationDescription } from './operation.ts';
import { alternatives, type Schema } from './schema-walk.ts';

/** How a text of the command line becomes a value. `json` covers all complex types. */
export type ValueKind = 'string' | 'integer' | 'number' | 'boolean' | 'json';

/** How a field of an operation's input is given on a command line. */
export interface ParameterForm {
  /** The key in the input. */
  key: string;
  /** The flag's name without dashes, in kebab-case. */
  flag: string;
  kind: ValueKind;
  /** It may be repeated. */
  isArray: boolean;
  isRequired: boolean;
  isPositional: boolean;
  enum: readonly (string | number | boolean)[] | undefined;
  /** Undefined when there is none. */
  default: unknown;
  /** A number of these, such as seconds: `5m` is accepted as well. */
  unit: DurationUnit | undefined;
  /** The environment variable that gives its value when the flag is not there. */
  env: string | undefined;
  /** The dotted key of the configuration files that gives its value when neither flag nor variable is there. */
  config: string | undefined;
  /** The letter of the flag, without its dash. */
  short: string | undefined;
  /** What to use in its place; undefined while it is not deprecated. */
  replacement: string | undefined;
  /** Its value is not shown while a person types it. */
  isSecret: boolean;
}

/** One field of an operation's input as a command-line parameter. */
export interface Parameter extends ParameterForm {
  description: string;
  schema: z.core.$ZodType;
}

/** What has parameters: an operation, or the options of a function of a library. */
export type Parametrized = Pick<OperationDescription, 'input' | 'positionals' | 'passthrough'>;

const derived = new WeakMap<Parametrized, readonly Parameter[]>();

/**
 * The parameters of an operation: positionals first, in their order, then as declared. Cached per operation: a command
 * that passes arguments through needs them twice, and a server needs them for each call.
 */
export function parametersOf(op: Parametrized): readonly Parameter[] {
  let parameters = derived.get(op);
  if (parameters === undefined) {
    parameters = deriveParameters(op);
    derived.set(op, parameters);
  }
  return parameters;
}

function deriveParameters(op: Parametrized): Parameter[] {
  const positionals = [...(op.positionals ?? []), ...(op.passthrough === undefined ? [] : [op.passthrough])];
  const all = Object.entries(op.input.shape).map(([key, field]) =>
    parameter(key, field, positionals.includes(key)),
  );
  return [
    ...positionals.flatMap((key) => all.filter((each) => each.key === key)),
    ...all.filter((each) => !each.isPositional),
  ];
}

/** `max_size` and `maxSize` as `max-size`. */
export function kebab(key: string): string {
  const lower = key.toLowerCase();
  // Most keys have no capitals, and the first use of a regular expression takes 0.1 ms.
  const words = lower === key ? key : key.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return words.replaceAll('_', '-');
}

/** A parameter in usage lines: `<tool>` or `--limit`. */
export function label(parameter: Pick<ParameterForm, 'flag' | 'isPositional'>): string {
  return parameter.isPositional ? `<${parameter.flag}>` : `--${parameter.flag}`;
}

/** The type's name for readers: `string`, `integer[]`, `json`. */
export function typeName(parameter: Pick<ParameterForm, 'kind' | 'isArray'>): string {
  return parameter.isArray ? `${parameter.kind}[]` : parameter.kind;
}

function parameter(key: string, field: z.core.$ZodType, isPositional: boolean): Parameter {
  const outer = withoutNull(alternatives(field, 'input'));
  const only = outer.length === 1 ? outer[0]!._zod.def : undefined;
  const values = only?.type === 'array' ? withoutNull(alternatives(only.element, 'input')) : outer;
  const meta = metaOf(field);
  return {
    key,
    flag: kebab(key),
    kind: kindOf(values),
    isArray: only?.type === 'array',
    isRequired: field._zod.optin === undefined,
    isPositional,
    description: (meta['description'] as string | undefined) ?? '',
    enum: enumOf(values),
    default: defaultOf(field),
    schema: field,
    unit: meta['unit'] as DurationUnit | undefined,
    env: meta['env'] as string | undefined,
    config: meta['config'] as string | undefined,
    short: isPositional ? undefined : (meta['short'] as string | undefined),
    replacement: meta['replacement'] as string | undefined,
    isSecret: meta['secret'] === true,
  };
}

function withoutNull(schemas: Schema[]): Schema[] {
  return schemas.filter((schema) => schema._zod.def.type !== 'null');
}

function kindOf(schemas: Schema[]): ValueKind {
  const kinds = new Set(schemas.map(kindOfOne));
  const [first, ...others] = kinds;
  return first !== undefined && others.length === 0 ? first : 'json';
}

function kindOfOne(schema: Schema): ValueKind {
  const def = schema._zod.def;
  switch (def.type) {
    case 'string':
    case 'template_literal':
      return 'string';
    case 'number':
      return (schema as { isInt?: boolean }).isInt === true ? 'integer' : 'number';
    case 'boolean':
      return 'boolean';
    case 'enum':
    case 'literal':
      return kindOfValues([...(schema._zod.values ?? [])]);
    default:
      return 'json';
  }
}

function kindOfValues(values: unknown[]): ValueKind {
  const kinds = new Set(values.map((value) => typeof value));
  const [only] = kinds;
  return kinds.size === 1 && (only === 'string' || only === 'number' || only === 'boolean') ? only : 'json';
}

function enumOf(schemas: Schema[]): ParameterForm['enum'] {
  const values: (string | number | boolean)[] = [];
  for (const schema of schemas) {
    const type = schema._zod.def.type;
    if (type !== 'enum' && type !== 'literal') return undefined;
    for (const value of schema._zod.values ?? []) {
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
        values.push(value);
    }
  }
  return values.length === 0 ? undefined : values;
}

/** What `describe` and `.meta({ unit: 's', env: 'BOX_TOKEN', config: 'token', short: 't', replacement: '--key', secret: true })` say, the outermost first. */
function metaOf(field: z.core.$ZodType): Readonly<Record<string, unknown>> {
  const inner = innerOf(field);
  return { ...(inner && metaOf(inner)), ...(field as Partial<z.ZodType>).meta?.() };
}

function defaultOf(field: z.core.$ZodType): unknown {
  const def = (field as Schema)._zod.def;
  if (def.type === 'default' || def.type === 'prefault') return def.defaultValue;
  const inner = innerOf(field);
  return inner === undefined ? undefined : defaultOf(inner);
}

function innerOf(field: z.core.$ZodType): z.core.$ZodType | undefined {
  const def = (field as Schema)._zod.def;
  if ('innerType' in def) return def.innerType;
  return def.type === 'pipe' ? def.in : undefined;
}
