const QUOTE = 34;
const BACKSLASH = 92;
const VALUE = /^\s*:\s*"([^"\\]{1,100})"/;

/** The `type` of a JSON object of which only the beginning is kept; undefined when that does not contain it. */
export function typeOfCut(bytes: Uint8Array): string | undefined {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const from = at + 1;
      at = endOfString(bytes, from);
      if (depth !== 1 || textOf(bytes, from, at) !== 'type') continue;
      const value = VALUE.exec(textOf(bytes, at + 1, at + 200));
      if (value !== null) return value[1];
    } else if (byte === 91 || byte === 123) depth++;
    else if (byte === 93 || byte === 125) depth--;
  }
  return undefined;
}

/** The index of the closing quote, or of the end of the kept text. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  const view = bytes.subarray(start, Math.min(end, start + 200));
  return Buffer.from(view.buffer, view.byteOffset, view.length).toString('utf8');
}
