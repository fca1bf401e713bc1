/** Thrown for a CEL value that JSON cannot represent. */
export class NoJson extends Error {}

/** Converts CEL integers to numbers, and timestamps and bytes to strings. */
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
  // The remaining classes of the CEL library: durations, unsigned integers, types.
  if (prototype !== Object.prototype && prototype !== null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJson(each)]));
}
