import type { Ajv } from 'ajv';

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
export async function newAjv({ $schema }: Schema): Promise<Ajv> {
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
  return String($schema).includes('draft-07')
    ? new (await import('ajv')).Ajv(options)
    : new (await import('ajv/dist/2020.js')).Ajv2020(options);
}
