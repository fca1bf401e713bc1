import type { ErrorObject } from 'ajv';
import { AcorError } from '../../protocol/acor-error.ts';
import type { InputSpec, InputType, Manifest } from '../../protocol/manifest.ts';
import { type ArgumentProblem, usageProblem } from './argument-problem.ts';
import { inputsFromSchema } from './input-schema.ts';
import { givenValue, type ReadInput, shownGiven, wordsOf } from './read-inputs.ts';
import type { SchemaChecks } from './schema-check.ts';
import { slowPatternProblems } from './slow-patterns.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The problems of a call by the `input_schema` of its tool, and by patterns that take long. Where a value is still unknown or wrong, each known value is checked on its own.
 * Throws E_MANIFEST_INVALID for a schema that cannot be used.
 */
export async function problemsBySchema(
  tool: { name: string; manifest: Manifest },
  read: readonly ReadInput[],
  { isWhole = read.every(({ isOpen }) => !isOpen) }: { isWhole?: boolean } = {},
): Promise<ArgumentProblem[]> {
  const schema = tool.manifest.input_schema;
  if (schema === undefined || isReadInFull(schema)) return slowPatternProblems(read);
  const { checksOf, whyUnchecked } = await import('./schema-check.ts');
  let errors: ErrorObject[];
  try {
    const checks = await checksOf(schema);
    errors = isWhole ? errorsOf(read, checks) : errorsOfEach(read, schema, checks);
  } catch (error) {
    const why = whyUnchecked(error);
    if (why !== undefined) return [uncheckedProblem(why)];
    throw new AcorError(
      'E_MANIFEST_INVALID',
      `input_schema of tool '${tool.name}' is not a valid JSON Schema: ${(error as Error).message}`,
      { hint: 'Fix the schema in the manifest.', cause: error },
    );
  }
  const problems = settled(errors).map((each) => problemOf(each, schema, read));
  const byMessage = new Map(problems.map((problem) => [problem.message, problem]));
  return [...byMessage.values()];
}

function uncheckedProblem(why: string): ArgumentProblem {
  return usageProblem(
    'input_schema',
    'too-costly',
    `the inputs cannot be checked by input_schema of the tool: ${why}`,
    'Pass smaller values, or make alternatives in the schema fewer: each one below a reference multiplies the work.',
  );
}

/** Keywords that ask for nothing. `default` is read with the inputs. */
const ANNOTATIONS = [
  ...['title', 'description', '$comment', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
];

const OF_ROOT = ['$schema', '$id', '$defs', 'definitions', 'type', 'properties', 'required'];

const OF_TEXT = ['type', 'enum', 'const', 'minLength', 'maxLength', 'pattern'];
const OF_NUMBER = ['type', 'enum', 'const', 'minimum', 'maximum'];

/** The keywords of a property that are checked while its value is read. */
const READ: Readonly<Record<InputType, readonly string[]>> = {
  string: OF_TEXT,
  path: [...OF_TEXT, 'format'],
  url: [...OF_TEXT, 'format'],
  int: OF_NUMBER,
  number: OF_NUMBER,
  bool: ['type'],
  duration: ['type', 'format'],
  json: [],
};

/** Whether reading the inputs checks all that a schema says. For such a schema no checker is loaded. */
function isReadInFull(schema: Schema): boolean {
  const { properties = {}, additionalProperties = false, ...others } = schema;
  if (additionalProperties !== false || !hasOnly(others, OF_ROOT)) return false;
  return inputsFromSchema(schema).every((spec) => {
    const property = (properties as Schema)[spec.name];
    if (typeof property !== 'object' || property === null) return false;
    if (!spec.multiple) return isOneInFull(property as Schema, spec);
    const { type: _, items, ...list } = property as { type?: unknown; items: Schema };
    return hasOnly(list, []) && isOneInFull(items, spec);
  });
}

function isOneInFull(schema: Schema, { type, enum: choices }: InputSpec): boolean {
  if (!hasOnly(schema, READ[type]) || Array.isArray(schema['type'])) return false;
  if (schema['enum'] === undefined && schema['const'] === undefined) return true;
  const wanted = type === 'int' || type === 'number' ? 'number' : 'string';
  const isOne = schema['enum'] === undefined || schema['const'] === undefined;
  return isOne && choices?.every((each) => typeof each === wanted) === true;
}

function hasOnly(schema: Schema, keywords: readonly string[]): boolean {
  return Object.keys(schema).every(
    (key) => keywords.includes(key) || ANNOTATIONS.includes(key) || key.startsWith('x-'),
  );
}

/**
 * A default is only an annotation of JSON Schema: a call is checked without those that it does not need. They must match their own schemas,
 * because the tool gets them.
 */
function errorsOf(read: readonly ReadInput[], checks: SchemaChecks): ErrorObject[] {
  const valuesOf = (inputs: readonly ReadInput[]) =>
    Object.fromEntries(inputs.map((input) => [input.spec.name, valueBySchema(input)]));
  const given = valuesOf(read.filter(({ isDefault }) => !isDefault));
  const defaults = valuesOf(read.filter(({ isDefault }) => isDefault));
  for (;;) {
    const errors = checks.whole(given);
    const needed = errors.map(missingOf).find((name) => name !== undefined && Object.hasOwn(defaults, name));
    if (needed === undefined) {
      const ofDefaults = checks.whole({ ...defaults, ...given }).filter((error) => {
        const name = nameOf(error);
        return name !== undefined && !Object.hasOwn(given, name);
      });
      return [...errors, ...ofDefaults];
    }
    given[needed] = defaults[needed];
    delete defaults[needed];
  }
}

/** The errors of the known values alone, of a call that cannot be checked as a whole. */
function errorsOfEach(read: readonly ReadInput[], schema: Schema, checks: SchemaChecks): ErrorObject[] {
  const properties = (schema['properties'] ?? {}) as Schema;
  return read
    .filter(({ spec, isOpen }) => !isOpen && Object.hasOwn(properties, spec.name))
    .flatMap((input) => checks.property(input.spec.name, valueBySchema(input)));
}

function valueBySchema(input: ReadInput): unknown {
  return givenValue({
    ...input,
    values: input.values.map(({ value, text, written }) => ({ value: written ?? value, text })),
  });
}

/** The input that an error is about; undefined for one of the whole call. */
function nameOf({ instancePath }: ErrorObject): string | undefined {
  return instancePath.split('/')[1];
}

/** The input that a call lacks by this error. */
function missingOf({ instancePath, params }: ErrorObject): string | undefined {
  const name: unknown = params['missingProperty'];
  return instancePath === '' && typeof name === 'string' ? name : undefined;
}

/** An error, and the errors of the alternatives, when none of them matches. */
interface Settled {
  error: ErrorObject;
  alternatives: ErrorObject[];
}

/** Errors in words of the caller: the errors of alternatives belong to one, and one that only repeats others is left out. */
function settled(errors: readonly ErrorObject[]): Settled[] {
  const isRepeated = ({ keyword }: ErrorObject) => keyword === 'if' || keyword === 'propertyNames';
  const own = errors.some((each) => !isRepeated(each)) ? errors.filter((each) => !isRepeated(each)) : errors;
  let found: Settled[] = [];
  for (const error of own) {
    const isBelow = belowAlternatives(error);
    const isAlternative = ({ error: each }: Settled) => isBelow(each);
    const alternatives = found.filter(isAlternative).map(({ error: each }) => each);
    found = [...found.filter((each) => !isAlternative(each)), { error, alternatives }];
  }
  return found;
}

/** Whether another error comes from an alternative of this `anyOf` or `oneOf`. Behind a reference, its place in the schema does not show it. */
function belowAlternatives({
  keyword,
  schemaPath,
  instancePath,
  schema,
}: ErrorObject): (error: ErrorObject) => boolean {
  if (keyword !== 'anyOf' && keyword !== 'oneOf') return () => false;
  const properties = `${schemaPath.slice(0, -keyword.length)}properties/`;
  const hasReference = JSON.stringify(schema).includes('"$ref"');
  return (error) =>
    error.schemaPath.startsWith(`${schemaPath}/`) ||
    (hasReference && error.instancePath.startsWith(instancePath) && !error.schemaPath.startsWith(properties));
}

function problemOf(
  { error, alternatives }: Settled,
  schema: Schema,
  read: readonly ReadInput[],
): ArgumentProblem {
  const others = alternatives.map((each) => problemOf({ error: each, alternatives: [] }, schema, read));
  const name = nameOf(error);
  if (name === undefined) return problemOfCall(error, others, schema, read);
  const input = read.find(({ spec }) => spec.name === name);
  const isSecret = input?.spec.secret === true;
  const [, , ...below] = error.instancePath.split('/');
  const place = isSecret ? name : [name, ...below].join('.');
  const either = others.map(({ message }) => message.replace(/, and is .*$/s, ''));
  const said = isSecret ? (error.message ?? error.keyword) : saying(error) + inWords(either);
  const shown = input === undefined || below.length > 0 ? '' : shownGiven(input.spec, givenAs(input));
  const properties = (schema['properties'] ?? {}) as Schema;
  const at = Object.hasOwn(properties, name) ? `input_schema.properties.${name}` : 'input_schema';
  return usageProblem(name, error.keyword, `'${place}' ${said}${shown}`, `It must match ${at} of the tool.`);
}

function givenAs(input: ReadInput): { text: string } | { json: unknown } {
  const value = valueBySchema(input);
  return typeof value === 'string' ? { text: value } : { json: value };
}

/** A problem with what is given as a whole. */
function problemOfCall(
  error: ErrorObject,
  alternatives: readonly ArgumentProblem[],
  schema: Schema,
  read: readonly ReadInput[],
): ArgumentProblem {
  const { keyword, params } = error;
  const specs = inputsFromSchema(schema);
  const name = missingOf(error);
  if (name !== undefined) {
    const by = typeof params['property'] === 'string' ? ` with '${params['property']}'` : '';
    const spec = specs.find((each) => each.name === name);
    const message = `'${name}' is required${by} and is not given`;
    return usageProblem(name, keyword, message, `Add ${spec === undefined ? `'${name}'` : wordsOf(spec)}.`);
  }
  const unknown: unknown =
    params['additionalProperty'] ?? params['unevaluatedProperty'] ?? error.propertyName;
  if (typeof unknown === 'string') {
    const why =
      error.propertyName === undefined ? 'is not allowed here' : `is no valid name: it ${saying(error)}`;
    return usageProblem(unknown, keyword, `'${unknown}' ${why}`, 'Leave it out.');
  }
  const whole = (message: string, fix: string) => usageProblem('input_schema', keyword, message, fix);
  const given = read.filter(({ isDefault }) => !isDefault).map(({ spec }) => spec.name);
  if (keyword === 'minProperties') {
    const others = specs.filter((spec) => !given.includes(spec.name)).map(wordsOf);
    const fix = others.length === 0 ? 'Add another input.' : `Add one of: ${others.join(', ')}.`;
    return whole(`at least ${inputs(params['limit'])} required, and ${inputs(given.length)} given`, fix);
  }
  if (keyword === 'maxProperties') {
    const fix = `Leave some of them out: ${given.join(', ')}.`;
    return whole(`at most ${inputs(params['limit'])} allowed, and ${inputs(given.length)} given`, fix);
  }
  const fixes = [...new Set(alternatives.map(({ fix }) => fix))].slice(0, MOST_SHOWN);
  return whole(
    `the inputs ${saying(error)}${inWords(alternatives.map(({ message }) => message))}`,
    fixes.join(' Or: ') || `They must match '${keyword}' in input_schema of the tool.`,
  );
}

function inputs(count: unknown): string {
  return count === 1 ? '1 input is' : `${count} inputs are`;
}

const MOST_SHOWN = 4;
const MAX_SHOWN_CHARS = 200;

function inWords(alternatives: readonly string[]): string {
  const shown = [...new Set(alternatives)].slice(0, MOST_SHOWN);
  return shown.length === 0 ? '' : ` (${shown.join('; or ')})`;
}

/** What a keyword asks for. */
function saying({ keyword, params, message, schema }: ErrorObject): string {
  switch (keyword) {
    case 'const':
      return `must be ${shown(params['allowedValue'])}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(shown).join(', ')}`;
    case 'not':
      return `must not match ${shown(schema)}`;
    case 'false schema':
      return 'is not allowed';
    case 'additionalProperties':
      return `must not have '${params['additionalProperty']}'`;
    case 'unevaluatedProperties':
      return `must not have '${params['unevaluatedProperty']}'`;
    default:
      return message ?? `must match ${keyword}`;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
