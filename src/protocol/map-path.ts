/**
 * A path in a message, with an optional factor for a number: `$.percent_done * 100`, `$.files[0].name`, `$["odd key"]`,
 * `$`.
 */
export interface MapPath {
  keys: readonly (string | number)[];
  factor: number | null;
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const STEP = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** Calculated values are rounded to this many digits. */
const PRECISION = 1e9;

/** Parses a path; undefined when it is invalid. */
export function parseMapPath(text: string): MapPath | undefined {
  const times = text.lastIndexOf('*');
  const factor = text.slice(times + 1).trim();
  const hasFactor = times !== -1 && NUMBER.test(factor);
  const place = (hasFactor ? text.slice(0, times) : text).trim();
  if (!place.startsWith('$')) return undefined;
  const keys: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < place.length) {
    const step = STEP.exec(place);
    if (step === null) return undefined;
    const [, name, index, quoted] = step;
    const key = name ?? (index === undefined ? unquoted(quoted!) : Number(index));
    if (key === undefined) return undefined;
    keys.push(key);
  }
  return { keys, factor: hasFactor ? Number(factor) : null };
}

/** Returns the value at the path. Returns undefined when the path does not exist, or when it has a factor and the value cannot be read as a number. */
export function valueAt(message: unknown, { keys, factor }: MapPath): unknown {
  let value = message;
  for (const key of keys) {
    // Only own properties of the message, not inherited ones.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  if (factor === null) return value;
  if (typeof value === 'string' && NUMBER.test(value)) value = Number(value);
  return typeof value === 'number' ? Math.round(value * factor * PRECISION) / PRECISION : undefined;
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return undefined;
  }
}
