/** Thrown for a value of the language that JSON has no form for. */
export class NoJson extends Error {}

/** Integers of the language become numbers, times and bytes texts. */
export function toJson(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint': {
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : String(value);
    }
    case 'number':
      if (!Number.isFinite(value)) throw new NoJson(`it gives ${value}, which is no number of JSON`);
      return value;
    case 'string':
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : objectToJson(value);
    default:
      throw new NoJson('it gives nothing that JSON could hold');
  }
}

function objectToJson(value: object): unknown {
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Map) return objectToJson(Object.fromEntries(value));
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const prototype = Object.getPrototypeOf(value);
  // What is left are the language's own classes: durations, unsigned integers, types.
  if (prototype !== Object.prototype && prototype !== null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJson(each)]));
}
