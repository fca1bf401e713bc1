/** Forms that write every character with several bytes are only looked for up to this length: whole files are not written that way. */
const MAX_SPELLED_OUT_BYTES = 1024;

/** Text as JSON strings and shells write it; the plain form is among them. */
export function textForms(text: string): string[] {
  return [...new Set([...jsonForms(text), ...shellForms(text)])];
}

/** Which characters programs percent-encode differs, and so do the digits and the space. */
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

/** Forms that do not care what the bytes mean: hexadecimal, and base64, the latter also as a part of something longer. */
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
  return [...forms].map((form) => Buffer.from(form, 'latin1'));
}

/** Where programs break base64 into lines, and how the break looks there and in a JSON string. */
const BASE64_LINE_CHARS = [64, 76];
const LINE_ENDS = ['\n', '\r\n', '\\n', '\\r\\n'];

/** The characters that depend on nothing but the secret when it begins `offset` bytes after a multiple of three. */
function withinBase64(bytes: Buffer, alphabet: 'base64' | 'base64url', offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString(alphabet)
    .replace(/=+$/, '');
  const shared = (offset + bytes.length) % 3 === 0 ? 0 : 1;
  return encoded.slice(offset === 0 ? 0 : offset + 1, encoded.length - shared);
}

/** Beside letters and digits: RFC 3986, Python, forms, JavaScript's two functions. In the last one, not even those. */
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

/** What programs write as `\u…` in JSON although they need not: what would matter in HTML or in a script, and what is not ASCII. */
const ESCAPED_FOR_HTML = ['', '<>&', "<>&'", "<>&'=", `<>&'"+\``];
const ESCAPED_FOR_ASCII = ['', '\\u2028\\u2029', '\\u007f-\\uffff'];
const PLAIN = /^[\w.-]*$/;
const EVERY_CHARACTER = '\\s\\S';

function* jsonForms(text: string): Generator<string> {
  // Most secrets are plain, and every program writes them alike.
  const sets = PLAIN.test(text)
    ? ['']
    : ESCAPED_FOR_HTML.flatMap((html) => ESCAPED_FOR_ASCII.map((other) => html + other));
  if (text.length <= MAX_SPELLED_OUT_BYTES) sets.push(EVERY_CHARACTER);
  for (const set of sets) {
    for (const digits of ['lower', 'upper'] as const) {
      const form = jsonEscaped(text, set, digits);
      yield form;
      yield form.replaceAll('/', '\\/');
      // JSON in a string of JSON.
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

/** As JSON must write it; for most control characters there is no other way. */
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
