import { AcorError } from '../../protocol/acor-error.ts';
import { exactJson } from '../../util/exact-json.ts';

/** The words of a call whose inputs are values. Throws E_USAGE for values that contain themselves. */
export function jsonWords(inputs: Readonly<Record<string, unknown>>): string[] {
  if (Object.keys(inputs).length === 0) return [];
  try {
    return ['--input-json', exactJson(inputs)];
  } catch (error) {
    throw new AcorError('E_USAGE', `${endless(inputs)} cannot be written as JSON: it contains itself`, {
      hint: 'Pass values that JSON can hold: texts, numbers, true, false, null, lists and objects of them.',
      cause: error,
    });
  }
}

function endless(inputs: Readonly<Record<string, unknown>>): string {
  const name = Object.keys(inputs).find((each) => {
    try {
      exactJson(inputs[each]);
      return false;
    } catch {
      return true;
    }
  });
  return `'${name}'`;
}
