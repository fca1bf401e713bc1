/** A place in a message, and what the number there is multiplied by: `$.percent_done * 100`, `$.files[0].name`, `$["odd key"]`, `$`. */
export interface MapPath {
  keys: readonly (string | number)[];
  factor: number | null;
}

const FACTOR = /^(.*?)\s*\*\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$/;
const STEP = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** Results of calculations are told to so many digits after the point. */
const PRECISION = 1e9;

/** Reads a path; undefined for what is none. */
export function parseMapPath(text: string): MapPath | undefined {
  const scaled = FACTOR.exec(text);
  const place = (scaled?.[1] ?? text).trim();
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
  return { keys, factor: scaled === null ? null : Number(scaled[2]) };
}

/** What stands at the path; undefined when nothing does, or when it should be multiplied and is no number. */
export function valueAt(message: unknown, { keys, factor }: MapPath): unknown {
  let value = message;
  for (const key of keys) {
    // Only what the message itself holds: not what every object or text has.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  if (factor === null) return value;
  return typeof value === 'number' ? Math.round(value * factor * PRECISION) / PRECISION : undefined;
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return undefined;
  }
}
