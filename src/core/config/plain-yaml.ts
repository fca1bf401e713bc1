/**
 * Reads the part of YAML 1.2 that most manifests consist of, about ten times as fast as the package `yaml`: block maps with plain keys, block lists,
 * one-line lists and maps in brackets, and scalars on one line without escapes. It decides nothing in doubt: for every other text, and for every
 * mistake, it returns undefined, and the package reads the text. A test compares the values of both for texts that it makes up.
 */
export function readPlainYaml(text: string): Record<string, unknown> | undefined {
  if (UNUSUAL.test(text)) return undefined;
  const lines = contentLines(text);
  if (lines.length === 0) return undefined;
  try {
    const reader = new PlainReader(lines);
    const value = reader.map(lines[0]!.indent, 0);
    return reader.isAtEnd && lines[0]!.indent === 0 ? value : undefined;
  } catch (error) {
    if (error === OTHER) return undefined;
    throw error;
  }
}

/** Thrown for what this reader leaves to the package. */
const OTHER = Symbol('other YAML');

const MAX_DEPTH = 16;
/** Control characters besides line feeds, spaces of other kinds, separators, the byte order mark, and all that needs two units of UTF-16. */
const UNUSUAL =
  /[\0-\x09\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\ufffe\uffff\ud800-\udfff]/;
/** A key that YAML takes for a text, and that objects do not treat in their own way. */
const KEY = /^(?!(?:true|false|null|__proto__)$)[a-z][a-z0-9_-]{0,100}$/i;
const ENTRY = /^([A-Za-z][A-Za-z0-9_-]*):(?: +(.*))?$/;
const ITEM = /^-( +)(.+)$/;
/** The first character of a scalar that YAML could not take for anything else. */
const PLAIN = /^[A-Za-z0-9_./$<(+~^=;\\]/;
/** In brackets, only what cannot end a scalar there. */
const PLAIN_IN_BRACKETS = /^[A-Za-z0-9_./$][A-Za-z0-9_./$*+ =;@^~<>()-]*$/;
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;
const DECIMAL = /^(?:0|[1-9]\d{0,8})\.\d{1,6}$/;
/** All that the core schema of YAML takes for a number, a boolean or null. */
const NO_TEXT =
  /^(?:~|null|true|false|[-+]?\d+|0o[0-7]+|0x[\da-f]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?|[-+]?\.inf|\.nan)$/i;
/** What may follow a value in quotes or brackets. */
const ONLY_COMMENT = /^(?: +#.*)?$/;

interface Line {
  indent: number;
  text: string;
}

function contentLines(text: string): Line[] {
  const lines: Line[] = [];
  for (const line of text.split('\n')) {
    const rest = line.trimStart();
    if (rest !== '' && rest[0] !== '#')
      lines.push({ indent: line.length - rest.length, text: rest.trimEnd() });
  }
  return lines;
}

class PlainReader {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#lines.length;
  }

  /** The map whose keys stand at this column. */
  map(indent: number, depth: number): Record<string, unknown> {
    if (depth > MAX_DEPTH) throw OTHER;
    const map: Record<string, unknown> = {};
    for (let line = this.#line; line?.indent === indent; line = this.#line) {
      const [, key, value] = ENTRY.exec(line.text) ?? [];
      if (key === undefined || !KEY.test(key) || Object.hasOwn(map, key)) throw OTHER;
      this.#at++;
      map[key] =
        value === undefined || value[0] === '#' ? this.#block(indent, depth) : this.#scalar(value, indent);
    }
    return map;
  }

  get #line(): Line | undefined {
    return this.#lines[this.#at];
  }

  /** What stands below a key at this column. */
  #block(indent: number, depth: number): unknown {
    const line = this.#line;
    if (line === undefined || line.indent < indent) throw OTHER;
    if (ITEM.test(line.text)) return this.#list(line.indent, depth + 1);
    if (line.indent === indent) throw OTHER;
    return this.map(line.indent, depth + 1);
  }

  #list(indent: number, depth: number): unknown[] {
    if (depth > MAX_DEPTH) throw OTHER;
    const list: unknown[] = [];
    for (let line = this.#line; line?.indent === indent; line = this.#line) {
      const [, spaces, rest] = ITEM.exec(line.text) ?? [];
      if (spaces === undefined || rest === undefined) {
        // A list may stand at the column of its key.
        if (list.length > 0 && ENTRY.test(line.text)) break;
        throw OTHER;
      }
      if (ENTRY.test(rest)) {
        // The map of an item begins behind its dash.
        line.indent = indent + 1 + spaces.length;
        line.text = rest;
        list.push(this.map(line.indent, depth + 1));
      } else {
        this.#at++;
        list.push(this.#scalar(rest, indent));
      }
    }
    return list;
  }

  /** A value on the line of its key. A deeper line would continue it. */
  #scalar(text: string, indent: number): unknown {
    const next = this.#line;
    if (next !== undefined && next.indent > indent) throw OTHER;
    return scalarOf(text);
  }
}

function scalarOf(text: string): unknown {
  const [first] = text;
  if (first === '[' || first === '{') return new Brackets(text).value();
  if (first === "'" || first === '"') return quoted(text);
  if (!PLAIN.test(text)) throw OTHER;
  const comment = text.indexOf(' #');
  const plain = comment === -1 ? text : text.slice(0, comment).trimEnd();
  if (plain.includes(': ') || plain.endsWith(':')) throw OTHER;
  return resolved(plain);
}

function quoted(text: string): string {
  const content = quotedAt(text, 0);
  if (!ONLY_COMMENT.test(text.slice(content.length + 2))) throw OTHER;
  return content;
}

/** The text in the quotes that begin here, without any escape. */
function quotedAt(text: string, at: number): string {
  const end = text.indexOf(text[at]!, at + 1);
  const content = text.slice(at + 1, end);
  if (end === -1 || content.includes('\\')) throw OTHER;
  return content;
}

/** A scalar without quotes, as the core schema of YAML takes it. */
function resolved(text: string): unknown {
  if (INTEGER.test(text) || DECIMAL.test(text)) return Number(text);
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (NO_TEXT.test(text)) throw OTHER;
  return text;
}

/** A list or a map in brackets on one line. */
class Brackets {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    const value = this.#any(0);
    if (!ONLY_COMMENT.test(this.#text.slice(this.#at))) throw OTHER;
    return value;
  }

  #any(depth: number): unknown {
    if (depth > MAX_DEPTH) throw OTHER;
    const first = this.#text[this.#at];
    if (first === '[') return this.#list(depth);
    if (first === '{') return this.#map(depth);
    if (first === "'" || first === '"') return this.#quoted();
    return this.#plain();
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    for (;;) {
      this.#skipSpaces();
      if (this.#takes(']')) return list;
      list.push(this.#any(depth + 1));
      this.#skipSpaces();
      if (this.#takes(']')) return list;
      if (!this.#takes(',')) throw OTHER;
    }
  }

  #map(depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#at++;
    for (;;) {
      this.#skipSpaces();
      if (this.#takes('}')) return map;
      const [, key] = /^([\w-]+): +/.exec(this.#text.slice(this.#at)) ?? [];
      if (key === undefined || !KEY.test(key) || Object.hasOwn(map, key)) throw OTHER;
      this.#at += key.length + 1;
      this.#skipSpaces();
      map[key] = this.#any(depth + 1);
      this.#skipSpaces();
      if (this.#takes('}')) return map;
      if (!this.#takes(',')) throw OTHER;
    }
  }

  #quoted(): string {
    const content = quotedAt(this.#text, this.#at);
    this.#at += content.length + 2;
    return content;
  }

  #plain(): unknown {
    const [text = ''] = /^[^,[\]{}]*/.exec(this.#text.slice(this.#at))!;
    const plain = text.trimEnd();
    if (!PLAIN_IN_BRACKETS.test(plain)) throw OTHER;
    this.#at += text.length;
    return resolved(plain);
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}
