import { ToolError } from './tool-error.ts';

/** A value as JSON. Throws E_USAGE where it would be read as another one: `what` names it in the message. */
export function exactJson(what: string, value: unknown): string {
  const refuse = (found: string, cause?: unknown) =>
    new ToolError(
      'E_USAGE',
      `${what} cannot be written as JSON: ${found}`,
      'Pass objects, lists, texts, finite numbers, true, false or null: a Map as Object.fromEntries(map), a Set as [...set].',
      { cause },
    );
  const checked = function (this: unknown, key: string, each: unknown): unknown {
    const lost = lossOf(each, Array.isArray(this) || key === '');
    if (lost === undefined) return each;
    throw refuse(key === '' ? `it is ${lost}` : `it has ${lost} at ${JSON.stringify(key)}`);
  };
  try {
    return JSON.stringify(value, checked);
  } catch (error) {
    // For an object that contains itself.
    throw error instanceof TypeError ? refuse(error.message, error) : error;
  }
}

/** What JSON would drop or change. A key whose value is undefined may be left out: it is read as undefined again. */
function lossOf(value: unknown, isKept: boolean): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return isKept ? 'undefined' : undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'bigint':
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    case 'object': {
      const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
      return ['Object', 'Array', 'Null'].includes(kind) ? undefined : `a value of the type ${kind}`;
    }
    default:
      return undefined;
  }
}
