import type { Ajv, ErrorObject, Options } from 'ajv';

type Schema = Readonly<Record<string, unknown>>;

/** Why a value does not match a manifest's schema; undefined when it does. */
export async function problemBySchema(schema: Schema, value: unknown): Promise<string | undefined> {
  const ajv = await newAjv(schema);
  try {
    const validate = ajv.compile({ ...schema });
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'data' });
  } catch (error) {
    return `its schema cannot be used: ${(error as Error).message}`;
  }
}

/** Checks values against a schema of inputs: all of them, or one property on its own. */
export interface SchemaChecks {
  whole(value: Schema): ErrorObject[];
  property(name: string, value: unknown): ErrorObject[];
}

/** Where a schema of inputs is kept while it is used, so that one property of it can be named. */
const INPUTS = 'acor:inputs';

/** Makes the checks of a schema of inputs, formats included. Throws for a schema that cannot be used. */
export async function checksOf(schema: Schema): Promise<SchemaChecks> {
  const ajv = await newAjv(schema, { ...(await withFormats(schema)), verbose: true });
  ajv.addSchema({ ...schema }, INPUTS);
  const whole = ajv.compile({ $ref: INPUTS });
  return {
    whole: (value) => (whole(value) ? [] : [...(whole.errors ?? [])]),
    property(name, value) {
      const validate = ajv.compile({ $ref: `${INPUTS}#/properties/${name}` });
      if (validate(value)) return [];
      return (validate.errors ?? []).map((error) => ({
        ...error,
        instancePath: `/${name}${error.instancePath}`,
      }));
    },
  };
}

/** What a schema of inputs says that no check knows, in words. Throws for a schema that cannot be used. */
export async function uncheckedIn(schema: Schema): Promise<string[]> {
  const found = new Set<string>();
  const log = (text: unknown) => found.add(String(text));
  const logger = { log, warn: log, error: log };
  (await newAjv(schema, { ...(await withFormats(schema)), logger })).compile({ ...schema });
  (await newAjv(schema, { strictSchema: 'log', logger })).compile({ ...schema });
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
  const answer = known.get(text) ?? (await whyUnusable(schema)) === undefined;
  if (known.size < MAX_KNOWN) known.set(text, answer);
  return answer;
}

/** Why a schema cannot be used as a JSON Schema; undefined when it can. */
export async function whyUnusable(schema: Schema): Promise<string | undefined> {
  try {
    (await newAjv(schema)).compile({ ...schema });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Compiles schemas of manifests and answers: draft 2020-12, or draft 7 where `$schema` names it. Loaded late, because few tools have a
 * schema. It never fetches a remote reference.
 */
export async function newAjv({ $schema }: Schema, more: Options = {}): Promise<Ajv> {
  const options: Options = {
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    // 0.3 is a multiple of 0.1, and the quotient of the two numbers is not whole.
    multipleOfPrecision: 10,
    ...more,
  };
  return String($schema).includes('draft-07')
    ? new (await import('ajv')).Ajv(options)
    : new (await import('ajv/dist/2020.js')).Ajv2020(options);
}
