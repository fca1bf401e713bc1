// CSI, then OSC and the other string sequences up to their end, then the two-character ones.
const ESCAPE_SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

// Control characters but tab and newline; marks that reorder or hide text.
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** Text from a stranger made safe for a terminal: escape sequences are dropped, other control characters shown. */
export function safeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(ESCAPE_SEQUENCES, '')
    .replace(UNSAFE, (char) => {
      const hex = char.charCodeAt(0).toString(16);
      return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`;
    });
}

/** The same data with every string in it, keys too, made safe for a terminal. */
export function safeData(value: unknown): unknown {
  if (typeof value === 'string') return safeText(value);
  if (Array.isArray(value)) return value.map(safeData);
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [safeText(key), safeData(each)]));
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
