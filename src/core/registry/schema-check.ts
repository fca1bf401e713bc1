import type { Ajv2020 } from 'ajv/dist/2020.js';

type Schema = Readonly<Record<string, unknown>>;

/** Why a value does not match a manifest's schema; undefined when it does. */
export async function problemBySchema(schema: Schema, value: unknown): Promise<string | undefined> {
  const ajv = await newAjv();
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
  const answer = known.get(text) ?? (await compiles(schema));
  if (known.size < MAX_KNOWN) known.set(text, answer);
  return answer;
}

async function compiles(schema: Schema): Promise<boolean> {
  try {
    (await newAjv()).compile({ ...schema });
    return true;
  } catch {
    return false;
  }
}

/**
 * Compiles schemas of manifests and answers. Loaded late, because few tools have a schema. It never fetches a remote
 * reference.
 */
export async function newAjv(): Promise<Ajv2020> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  return new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
}
