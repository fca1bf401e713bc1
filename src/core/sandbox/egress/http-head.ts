import { type Host, nameOf, readHostAndPort } from './host.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** A line of a header: its name as it was written, and its value without surrounding white space. */
export type Field = readonly [name: string, value: string];

/** The first line of a message, in its three parts, and its fields. */
export interface Head {
  first: readonly [string, string, string];
  fields: readonly Field[];
}

/**
 * Parses the head of a request without its last empty line, one character per byte. Returns a message for an invalid
 * head. It is strict, because a head that a server reads differently could reach the wrong host.
 */
export function readRequestHead(text: string): Head | string {
  const lines = linesOf(text);
  if (typeof lines === 'string') return lines;
  const [, method, target, version] = /^(\S+) ([!-~]+) (HTTP\/1\.[01])$/.exec(lines[0]!) ?? [];
  if (method === undefined || !TOKEN.test(method)) return 'its first line is not an HTTP/1 request';
  const fields = readFields(lines);
  return typeof fields === 'string' ? fields : { first: [method, target!, version!], fields };
}

/** Parses the head of a response in the same way. */
export function readResponseHead(text: string): Head | string {
  const lines = linesOf(text);
  if (typeof lines === 'string') return lines;
  const [, version, status, reason] = /^(HTTP\/1\.[01]) ([1-9]\d\d)(?: (.*))?$/.exec(lines[0]!) ?? [];
  if (version === undefined) return 'its first line is not an HTTP/1 response';
  const fields = readFields(lines);
  return typeof fields === 'string' ? fields : { first: [version, status!, reason ?? ''], fields };
}

/** The values of all fields of a name, which is in lower case. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  return fields.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
}

/** The members of a list such as `Connection: a, b`, in lower case. */
export function listed(value: string): string[] {
  return value.split(',').map((each) => each.trim().toLowerCase());
}

export function headText(first: string, fields: readonly Field[]): string {
  return `${first}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** The host and port of a Host header or an address. */
export function readAuthority(text: string, port: number): { host: Host; port: number } | undefined {
  return readHostAndPort(/:\d+$/.test(text) && !/^\[[^\]]*$/.test(text) ? text : `${text}:${port}`);
}

export function isSameAuthority(
  a: { host: Host; port: number } | undefined,
  b: { host: Host; port: number },
): boolean {
  return a !== undefined && nameOf(a.host) === nameOf(b.host) && a.port === b.port;
}

function linesOf(text: string): string[] | string {
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text)) return 'it contains control characters';
  const lines = text.split('\r\n');
  return lines.some((line) => /[\r\n]/.test(line)) ? 'its lines do not end with CRLF' : lines;
}

function readFields([, ...lines]: readonly string[]): Field[] | string {
  const fields = lines.map(readField);
  return fields.some(([name]) => !TOKEN.test(name)) ? 'a header is malformed' : fields;
}

/** The name is empty when the line has none. The value is trimmed by hand, in time linear in its length. */
function readField(line: string): Field {
  const colon = line.indexOf(':');
  let [from, to] = [colon + 1, line.length];
  while (isSpace(line[from])) from++;
  while (to > from && isSpace(line[to - 1])) to--;
  return [line.slice(0, Math.max(0, colon)), line.slice(from, to)];
}

/** What may surround the value of a header (RFC 9110 §5.6.3). */
function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
