import { AcorError } from '../../protocol/acor-error.ts';
import { exactJson, isTooDeep, TOO_DEEP } from '../../util/exact-json.ts';

/** The words of a call whose inputs are values. Throws E_USAGE for values that contain themselves, or are nested too deep. */
export function jsonWords(inputs: Readonly<Record<string, unknown>>): string[] {
  for (const [name, value] of Object.entries(inputs)) if (isTooDeep(value)) refuse(name, value);
  return Object.keys(inputs).length === 0 ? [] : ['--input-json', exactJson(inputs)];
}

function refuse(name: string, value: unknown): never {
  if (!isInItself(value))
    throw new AcorError('E_USAGE', `'${name}' ${TOO_DEEP.mistake}`, { hint: TOO_DEEP.fix });
  throw new AcorError('E_USAGE', `'${name}' cannot be written as JSON: it contains itself`, {
    hint: 'Pass values that JSON can hold: texts, numbers, true, false, null, lists and objects of them.',
  });
}

function isInItself(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return false;
  } catch (error) {
    return error instanceof TypeError;
  }
}
