// CSI sequences, then OSC and the other string sequences up to their end, then the two-character ones.
const ESCAPE_SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

// Control characters except tab and newline; marks that reorder text; invisible characters, in which text can be
// hidden.
const UNSAFE =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Makes untrusted text safe for a terminal: drops escape sequences and shows other control characters. */
export function safeText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(ESCAPE_SEQUENCES, '').replace(UNSAFE, shown);
}

/** The same on one line: a part of a line cannot look like a separate line. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}

/**
 * The same on several lines, all but the first indented, so that none of them looks like a line of the program that
 * shows it.
 */
export function safeLines(text: string): string {
  return safeText(text).replaceAll('\n', '\n  ');
}

/** For a program that reads text: only what a terminal would obey is dropped. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPE_SEQUENCES, '').replaceAll('\x1b', '');
}

function shown(char: string): string {
  const hex = char.codePointAt(0)!.toString(16);
  if (hex.length > 4) return `\\u{${hex}}`;
  return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`;
}

/** The same data with every string in it, including keys, made safe for a terminal. */
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
