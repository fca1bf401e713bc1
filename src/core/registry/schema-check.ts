import type { Ajv, CodeKeywordDefinition, ErrorObject, Options } from 'ajv';
import { BoundedPattern } from '../../protocol/bounded-pattern.ts';
import { TooCostly } from '../../protocol/too-costly.ts';
import { CheckClock, MAX_INPUTS_MS } from './check-clock.ts';
import { EndlessSchema, refuseEndless } from './schema-reach.ts';
import { uniqueItems } from './unique-items.ts';

type RegExpEngine = NonNullable<NonNullable<Options['code']>['regExp']>;
type Schema = Readonly<Record<string, unknown>>;

/** Why a value is not valid; undefined when it is. */
type ValueCheck = (value: unknown) => string | undefined;

/** More problems of one value help no reader. Each alternative of a list counts as one. */
const MOST_ERRORS = 1_000;

/** Makes the check of values, called `name` in what is wrong with them. Throws for a schema that cannot be used. */
export async function checkOf(schema: Schema, name: string): Promise<ValueCheck> {
  const { ajv, clock } = await newAjv(schema);
  const validate = compiled(ajv, schema, clock);
  return (value) => {
    try {
      if (clock.run(() => validate(value))) return undefined;
      return ajv.errorsText(validate.errors?.slice(0, MOST_ERRORS), { dataVar: name });
    } catch (error) {
      const why = whyUnchecked(error);
      if (why === undefined) throw error;
      return `${name} cannot be checked by its schema: ${why}`;
    }
  };
}

/** Why a value does not match a manifest's schema; undefined when it does. */
export async function problemBySchema(schema: Schema, value: unknown): Promise<string | undefined> {
  let check: ValueCheck;
  try {
    check = await checkOf(schema, 'data');
  } catch (error) {
    return `its schema cannot be used: ${(error as Error).message}`;
  }
  return check(value);
}

/** Why a check ended without an answer; undefined for another error. */
export function whyUnchecked(error: unknown): string | undefined {
  if (error instanceof TooCostly) return error.message;
  return error instanceof RangeError ? 'it is nested too deep' : undefined;
}

/** Checks values against a schema of inputs: all of them, or one property on its own. Throws what `whyUnchecked` knows. */
export interface SchemaChecks {
  whole(value: Schema): ErrorObject[];
  property(name: string, value: unknown): ErrorObject[];
}

/** Where a schema of inputs is kept while it is used, so that one property of it can be named. */
const INPUTS = 'acor:inputs';

/** Makes the checks of a schema of inputs, formats included. Throws for a schema that cannot be used. */
export async function checksOf(schema: Schema): Promise<SchemaChecks> {
  const { ajv, clock } = await newAjv(schema, { ...(await withFormats(schema)), verbose: true });
  ajv.addSchema({ ...schema }, INPUTS);
  const whole = compiled(ajv, { $ref: INPUTS }, clock);
  const errorsOf = (validate: typeof whole, value: unknown) =>
    clock.run(() => validate(value), MAX_INPUTS_MS) ? [] : (validate.errors ?? []).slice(0, MOST_ERRORS);
  return {
    whole: (value) => errorsOf(whole, value),
    property: (name, value) =>
      errorsOf(compiled(ajv, { $ref: `${INPUTS}#/properties/${name}` }, clock), value).map((error) => ({
        ...error,
        instancePath: `/${name}${error.instancePath}`,
      })),
  };
}

/** What a schema of inputs says that no check knows, in words. Throws for a schema that cannot be used. */
export async function uncheckedIn(schema: Schema): Promise<string[]> {
  const found = new Set<string>();
  const log = (text: unknown) => found.add(String(text));
  const logger = { log, warn: log, error: log };
  await compile(schema, { ...(await withFormats(schema)), logger });
  await compile(schema, { strictSchema: 'log', logger });
  return [...found].flatMap((text) => {
    const format = /^unknown format "(.*)" ignored/.exec(text)?.[1];
    if (format !== undefined) return `the format '${format}'`;
    const keyword = /^strict mode: unknown keyword: "(.*)"$/.exec(text)?.[1];
    return keyword === undefined || keyword.startsWith('x-') ? [] : `the keyword '${keyword}'`;
  });
}

/** The formats are loaded for a schema that names one. */
async function withFormats(schema: Schema): Promise<Options> {
  if (!JSON.stringify(schema).includes('"format"')) return {};
  return { validateFormats: true, formats: (await import('./schema-formats.ts')).FORMATS };
}

/** Results by schema text: compiling a schema takes milliseconds, and a server asks repeatedly. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 1000;

/** Whether a manifest's schema is usable on its own; a client that gets an unusable one may fail. */
export async function isUsableSchema(schema: Schema): Promise<boolean> {
  const text = JSON.stringify(schema);
  const answer = known.get(text) ?? (await schemaMistake(schema)) === undefined;
  if (known.size < MAX_KNOWN) known.set(text, answer);
  return answer;
}

/** Why a schema cannot be used as a JSON Schema, and the place in it if that is known. */
export interface SchemaMistake {
  why: string;
  path: readonly (string | number)[];
  fix: string;
}

/** What makes a schema unusable; undefined when it can be used. */
export async function schemaMistake(schema: Schema): Promise<SchemaMistake | undefined> {
  try {
    const { ajv, clock } = await checkerFor(schema);
    const copy = { ...schema };
    try {
      clock.run(() => ajv.compile(copy));
    } finally {
      ajv.removeSchema(copy);
    }
    return undefined;
  } catch (error) {
    const why = (error as Error).message;
    return error instanceof EndlessSchema
      ? { why, path: error.path, fix: error.fix }
      : { why, path: [], fix: 'Correct the schema.' };
  }
}

/** By dialect. To make one takes 20 times as long as to compile a schema by it, and a project may have a thousand schemas. */
const checkers = new Map<boolean, ReturnType<typeof ajvOf>>();

/** For the look at a schema alone. One with ids gets its own, because ids stay known. */
async function checkerFor(schema: Schema): ReturnType<typeof ajvOf> {
  refuseEndless(schema);
  const isDraft7 = isOfDraft7(schema);
  if (JSON.stringify(schema).includes('"$id"')) return ajvOf({ isDraft7 });
  const checker = checkers.get(isDraft7) ?? ajvOf({ isDraft7 });
  checkers.set(isDraft7, checker);
  return checker;
}

async function compile(schema: Schema, more?: Options): Promise<void> {
  const { ajv, clock } = await newAjv(schema, more);
  compiled(ajv, schema, clock);
}

function compiled(ajv: Ajv, schema: Schema, clock: CheckClock): ReturnType<Ajv['compile']> {
  return clock.run(() => ajv.compile({ ...schema }));
}

/**
 * Compiles schemas of manifests and answers: draft 2020-12, or draft 7 where `$schema` names it. Loaded late, because few tools have a
 * schema. It never fetches a remote reference. Throws EndlessSchema.
 */
async function newAjv(schema: Schema, more?: Options): ReturnType<typeof ajvOf> {
  refuseEndless(schema);
  return ajvOf({ isDraft7: isOfDraft7(schema), more });
}

async function ajvOf({
  isDraft7,
  more = {},
}: {
  isDraft7: boolean;
  more?: Options | undefined;
}): Promise<{ ajv: Ajv; clock: CheckClock }> {
  const clock = new CheckClock();
  const options: Options = {
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    // 0.3 is a multiple of 0.1, and the quotient of the two numbers is not whole.
    multipleOfPrecision: 10,
    // A reference is a call, and calls are what a schema can multiply: without them, a check takes the schema times the value.
    inlineRefs: false,
    code: { regExp: patternsBy(clock) },
    ...more,
  };
  const { Ajv: Checker, _: code } = isDraft7
    ? await import('ajv')
    : await import('ajv/dist/2020.js').then(({ Ajv2020, _ }) => ({ Ajv: Ajv2020, _ }));
  const ajv = new Checker(options);
  for (const keyword of ['$ref', '$dynamicRef']) {
    const rule = ajv.RULES.all[keyword];
    if (typeof rule !== 'object') continue;
    const definition = rule.definition as CodeKeywordDefinition;
    const { code: ownCode } = definition;
    definition.code = (context, type) => {
      context.gen.code(code`${context.gen.scopeValue('func', { ref: clock.tick })}()`);
      ownCode(context, type);
    };
  }
  ajv.removeKeyword(uniqueItems.keyword).addKeyword(uniqueItems);
  return { ajv, clock };
}

function isOfDraft7({ $schema }: Schema): boolean {
  return String($schema).includes('draft-07');
}

function patternsBy(clock: CheckClock): RegExpEngine {
  const patterns = (source: string) => {
    const pattern = patternOf(source);
    return { test: (text: string) => pattern.test(text, clock.tick), toString: () => source };
  };
  return Object.assign(patterns, { code: 'patterns' });
}

function patternOf(source: string): BoundedPattern {
  try {
    return new BoundedPattern(source);
  } catch (error) {
    throw new SyntaxError(`the pattern ${source} cannot be used: ${(error as Error).message}`);
  }
}
