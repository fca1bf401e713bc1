import { AcorError } from '../../protocol/acor-error.ts';
import { exactJson, lossOfValue } from '../../util/exact-json.ts';

/** The words of a call whose inputs are values. Throws E_USAGE for values that contain themselves, are nested too deep, or would be read as others. */
export function jsonWords(inputs: Readonly<Record<string, unknown>>): string[] {
  for (const [name, value] of Object.entries(inputs)) {
    const loss = lossOfValue(value);
    if (loss !== undefined) refuse(name, value, loss);
  }
  return Object.keys(inputs).length === 0 ? [] : ['--input-json', exactJson(inputs)];
}

function refuse(name: string, value: unknown, { mistake, fix }: { mistake: string; fix: string }): never {
  if (!isInItself(value)) throw new AcorError('E_USAGE', `'${name}' ${mistake}`, { hint: fix });
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
