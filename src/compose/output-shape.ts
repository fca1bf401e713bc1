import type * as z from 'zod';
import type { OperationDescription } from './operation.ts';
import { alternatives, type Schema } from './schema-walk.ts';

/** Whether a schema has a field: `open` when it does not list its fields. */
export type FieldAnswer = 'yes' | 'no' | 'open';

/** The key of an answer's main array; `null` when the answer is the array, undefined when there is none. */
export type MainArray = { key: string | null } | undefined;

/** Looks up a dotted path in the output schema, through arrays. */
export function hasField(schemas: readonly z.core.$ZodType[], path: readonly string[]): FieldAnswer {
  const [name, ...rest] = path;
  if (name === undefined) return 'yes';
  const answers = schemas
    .flatMap((schema) => throughArrays(schema))
    .map((schema): FieldAnswer => {
      const member = memberOf(schema, name);
      if (member !== undefined) return hasField([member], rest);
      const other = otherMembersOf(schema);
      if (other === undefined) return 'no';
      // Any name is possible, so only the data can decide.
      return other === 'any' || hasField([other], rest) !== 'no' ? 'open' : 'no';
    });
  if (answers.includes('yes')) return 'yes';
  return answers.includes('open') ? 'open' : 'no';
}

/** The field names in a schema, through arrays. */
export function fieldNames(schemas: readonly z.core.$ZodType[]): string[] {
  const names = schemas
    .flatMap((schema) => throughArrays(schema))
    .flatMap((schema) => (schema._zod.def.type === 'object' ? Object.keys(schema._zod.def.shape) : []));
  return [...new Set(names)];
}

/** What says which array of an answer is its list. */
export type Answering = Pick<OperationDescription, 'list'> & Partial<Pick<OperationDescription, 'output'>>;

/** The main array according to the schema; `unknown` when only the data can decide. */
export function mainArrayOf(op: Answering): MainArray | 'unknown' {
  if (op.list !== undefined) return { key: op.list };
  if (op.output === undefined) return 'unknown';
  const [only, ...others] = alternatives(op.output, 'output');
  if (only === undefined || others.length > 0) return 'unknown';
  const def = only._zod.def;
  if (def.type === 'array') return { key: null };
  if (def.type !== 'object') return otherMembersOf(only) === undefined ? undefined : 'unknown';
  const arrays = Object.keys(def.shape).filter((key) => isArray(def.shape[key]!));
  if (arrays.length === 0 && otherMembersOf(only) !== undefined) return 'unknown';
  return arrays.length === 1 ? { key: arrays[0]! } : undefined;
}

/** The main array according to the data. */
export function mainArrayIn(data: unknown): MainArray {
  if (Array.isArray(data)) return { key: null };
  if (typeof data !== 'object' || data === null) return undefined;
  const arrays = Object.entries(data).filter(([, value]) => Array.isArray(value));
  return arrays.length === 1 ? { key: arrays[0]![0] } : undefined;
}

/** The schemas of the elements of the main array. */
export function elementSchemas(output: z.core.$ZodType, main: MainArray): Schema[] {
  if (main === undefined) return [];
  const { key } = main;
  const outer = alternatives(output, 'output');
  const lists = key === null ? outer : outer.flatMap((schema) => membersOf(schema, key));
  return lists.flatMap((schema) => (schema._zod.def.type === 'array' ? throughArrays(schema) : []));
}

function membersOf(schema: Schema, name: string): Schema[] {
  const member = memberOf(schema, name);
  return member === undefined ? [] : alternatives(member, 'output');
}

// A recursive schema: a list may contain lists of the same type, as in JSON.
function throughArrays(schema: z.core.$ZodType, seen = new Set<z.core.$ZodType>()): Schema[] {
  return alternatives(schema, 'output').flatMap((each) => {
    if (seen.has(each)) return [];
    seen.add(each);
    return each._zod.def.type === 'array' ? throughArrays(each._zod.def.element, seen) : [each];
  });
}

function isArray(schema: z.core.$ZodType): boolean {
  return alternatives(schema, 'output').some((each) => each._zod.def.type === 'array');
}

function memberOf(schema: Schema, name: string): z.core.$ZodType | undefined {
  const def = schema._zod.def;
  return def.type === 'object' && Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
}

/** The schema of the members that the schema does not name; undefined when there are none. */
function otherMembersOf(schema: Schema): z.core.$ZodType | 'any' | undefined {
  const def = schema._zod.def;
  if (def.type === 'record') return def.valueType;
  if (def.type !== 'object') return isOpen(schema) ? 'any' : undefined;
  const rest = def.catchall as Schema | undefined;
  return rest === undefined || rest._zod.def.type === 'never' ? undefined : rest;
}

function isOpen(schema: Schema): boolean {
  return ['any', 'unknown', 'custom', 'transform'].includes(schema._zod.def.type);
}
