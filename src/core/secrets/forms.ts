/**
 * Encodings with several bytes per character are only searched up to this length, because programs do not encode whole
 * files this way.
 */
const MAX_SPELLED_OUT_BYTES = 1024;

/** Text as JSON strings, shells and Python write it, including the plain form. */
export function textForms(text: string): string[] {
  return [...new Set([...jsonForms(text), ...shellForms(text), ...pythonForms(text)])];
}

/** Programs differ in which characters they percent-encode, in the case of the digits, and in the space. */
export function urlForms(bytes: Buffer): Buffer[] {
  const forms = new Set<string>();
  for (const kept of KEPT_IN_URLS) {
    if (kept === '' && bytes.length > MAX_SPELLED_OUT_BYTES) continue;
    const upper = percentEncoded(bytes, kept);
    const lower = upper.replace(/%../g, (code) => code.toLowerCase());
    for (const form of [upper, lower]) forms.add(form).add(form.replaceAll('%20', '+'));
  }
  return [...forms].map((form) => Buffer.from(form, 'latin1'));
}

/** Encodings of arbitrary bytes: hexadecimal, and base64, also inside of a longer base64 text. */
export function byteForms(bytes: Buffer): Buffer[] {
  const hex = bytes.toString('hex');
  const forms = new Set([hex, hex.toUpperCase()]);
  for (const alphabet of ['base64', 'base64url'] as const) {
    const whole = bytes.toString(alphabet);
    forms.add(whole).add(whole.replace(/=+$/, ''));
    for (let offset = 0; offset < 3; offset++) forms.add(withinBase64(bytes, alphabet, offset));
    for (const width of BASE64_LINE_CHARS) {
      for (const text of [whole, withinBase64(bytes, alphabet, 0)]) {
        const lines = text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
        if (lines.length > 1) for (const lineEnd of LINE_ENDS) forms.add(lines.join(lineEnd));
      }
    }
  }
  if (bytes.length <= MAX_BROKEN_BYTES) for (const form of brokenWithinBase64(bytes)) forms.add(form);
  return [...forms].map((form) => Buffer.from(form, 'latin1'));
}

/** Longer secrets would have too many forms, each of them long. */
const MAX_BROKEN_BYTES = 96;

/** Within something longer, which is broken into lines: the secret begins at any place of a line. */
function* brokenWithinBase64(bytes: Buffer): Generator<string> {
  for (let offset = 0; offset < 3; offset++) {
    const text = withinBase64(bytes, 'base64', offset);
    const first = offset === 0 ? 0 : offset + 1;
    for (const width of BASE64_LINE_CHARS) {
      for (let column = first; column < width; column += 4) {
        const head = text.slice(0, width - column);
        const lines = text.slice(head.length).match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
        if (lines.length > 0) for (const lineEnd of LINE_ENDS) yield [head, ...lines].join(lineEnd);
      }
    }
  }
}

/** The line lengths of base64 encoders, and the line break in plain text and in a JSON string. */
const BASE64_LINE_CHARS = [64, 76];
const LINE_ENDS = ['\n', '\r\n', '\\n', '\\r\\n'];

/** The base64 characters that depend only on the secret when it starts `offset` bytes after a multiple of three. */
function withinBase64(bytes: Buffer, alphabet: 'base64' | 'base64url', offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString(alphabet)
    .replace(/=+$/, '');
  const shared = (offset + bytes.length) % 3 === 0 ? 0 : 1;
  return encoded.slice(offset === 0 ? 0 : offset + 1, encoded.length - shared);
}

/**
 * Unescaped characters besides letters and digits: RFC 3986, Python, forms, JavaScript's two functions. The last set is
 * empty.
 */
const KEPT_IN_URLS = ['-._~', '-._~/', '-._*', "-._~!'()*", "-._~!'()*;,/?:@&=+$#", ''];

function percentEncoded(bytes: Buffer, kept: string): string {
  const codes = Array.from({ length: 256 }, (_, byte) => {
    const char = String.fromCharCode(byte);
    const isKept = kept !== '' && (/[A-Za-z0-9]/.test(char) || kept.includes(char));
    return isKept ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  let text = '';
  for (const byte of bytes) text += codes[byte];
  return text;
}

/**
 * Characters that JSON encoders escape as `\u…` without need: those with a meaning in HTML or scripts, and non-ASCII
 * characters.
 */
const ESCAPED_FOR_HTML = ['', '<>&', "<>&'", "<>&'=", `<>&'"+\``];
const ESCAPED_FOR_ASCII = ['', '\\u2028\\u2029', '\\u007f-\\uffff'];
const PLAIN = /^[\w.-]*$/;
const EVERY_CHARACTER = '\\s\\S';

function* jsonForms(text: string): Generator<string> {
  // Most secrets contain only plain characters, which every program writes alike.
  const sets = PLAIN.test(text)
    ? ['']
    : ESCAPED_FOR_HTML.flatMap((html) => ESCAPED_FOR_ASCII.map((other) => html + other));
  if (text.length <= MAX_SPELLED_OUT_BYTES) sets.push(EVERY_CHARACTER);
  for (const set of sets) {
    for (const digits of ['lower', 'upper'] as const) {
      const form = jsonEscaped(text, set, digits);
      yield form;
      yield form.replaceAll('/', '\\/');
      // JSON inside a JSON string.
      yield JSON.stringify(form).slice(1, -1);
    }
  }
}

function jsonEscaped(text: string, set: string, digits: 'lower' | 'upper'): string {
  const inSet = set === '' ? undefined : new RegExp(`[${set}]`);
  return text.replace(new RegExp(`["\\\\\\u0000-\\u001f${set}]`, 'g'), (char) =>
    inSet?.test(char) ? escaped(char, digits) : short(char, digits),
  );
}

/** The required JSON escapes; most control characters have no other. */
function short(char: string, digits: 'lower' | 'upper'): string {
  const form = JSON.stringify(char).slice(1, -1);
  return form.startsWith('\\u') ? escaped(char, digits) : form;
}

function escaped(char: string, digits: 'lower' | 'upper'): string {
  const code = char.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${digits === 'upper' ? code.toUpperCase() : code}`;
}

function* shellForms(text: string): Generator<string> {
  yield text;
  yield text.replaceAll("'", `'\\''`);
  yield text.replaceAll("'", `'"'"'`);
  yield text.replace(/["\\$`]/g, '\\$&');
  yield text.replace(/[^\w@%+=:,./-]/g, '\\$&');
}

/** `repr` of a text, its `ascii`, and `repr` of its bytes. They escape `'` only where there is a `"`, too, which may be outside of the secret. */
function* pythonForms(text: string): Generator<string> {
  const bytes = Buffer.from(text).toString('latin1');
  for (const form of [
    pythonEscaped(text, /(?! )[\p{C}\p{Z}]/gu),
    pythonEscaped(text, /[^ -~]/gu),
    pythonEscaped(bytes, /[^ -~]/g),
  ]) {
    yield form;
    yield form.replaceAll("'", "\\'");
  }
}

const SHORT_IN_PYTHON: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function pythonEscaped(text: string, escapes: RegExp): string {
  return text.replaceAll('\\', '\\\\').replace(escapes, (char) => {
    const code = char.codePointAt(0)!.toString(16);
    const long = code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
    return SHORT_IN_PYTHON[char] ?? (code.length > 2 ? long : `\\x${code.padStart(2, '0')}`);
  });
}
