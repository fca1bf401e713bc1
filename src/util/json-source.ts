/** A JSON text with places: what it says, and from which character to which. */
export type JsonNode = { start: number; end: number } & (
  | { kind: 'object'; members: { key: string; node: JsonNode }[]; insertAt: number; endsWithComma: boolean }
  | { kind: 'array'; items: JsonNode[]; insertAt: number; endsWithComma: boolean }
  | { kind: 'plain'; value: unknown }
);

const BLANK = /(?:[\s\ufeff]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const PLAIN = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** Reads JSON as agents write it into their settings: comments and a last comma are let pass. Undefined for what is no JSON. */
export function readJsonSource(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  try {
    const node = reader.node();
    return reader.isAtEnd() ? node : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What a node stands for. */
export function jsonValueOf(node: JsonNode): unknown {
  switch (node.kind) {
    case 'plain':
      return node.value;
    case 'array':
      return node.items.map(jsonValueOf);
    case 'object':
      return Object.fromEntries(node.members.map(({ key, node: member }) => [key, jsonValueOf(member)]));
  }
}

const MAX_DEPTH = 200;

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#take(BLANK);
    return this.#at === this.#text.length;
  }

  node(): JsonNode {
    this.#take(BLANK);
    const start = this.#at;
    const opening = this.#text[start];
    if (opening !== '{' && opening !== '[') return this.#plain();
    if (++this.#depth > MAX_DEPTH) throw new SyntaxError('too deep');
    const members: { key: string; node: JsonNode }[] = [];
    const closing = opening === '{' ? '}' : ']';
    this.#at++;
    let insertAt = this.#at;
    let endsWithComma = false;
    for (;;) {
      this.#take(BLANK);
      if (this.#text[this.#at] === closing) break;
      if (members.length > 0 && !endsWithComma) throw new SyntaxError('a comma is missing');
      const key = opening === '{' ? this.#key() : '';
      const node = this.node();
      members.push({ key, node });
      insertAt = this.#at;
      this.#take(BLANK);
      endsWithComma = this.#text[this.#at] === ',';
      if (endsWithComma) insertAt = ++this.#at;
    }
    this.#at++;
    this.#depth--;
    const places = { start, end: this.#at, insertAt, endsWithComma };
    if (opening === '{') return { kind: 'object', members, ...places };
    return { kind: 'array', items: members.map(({ node }) => node), ...places };
  }

  #key(): string {
    const node = this.#plain();
    this.#take(BLANK);
    if (typeof node.value !== 'string' || this.#text[this.#at] !== ':') throw new SyntaxError('no member');
    this.#at++;
    return node.value;
  }

  #plain(): JsonNode & { kind: 'plain' } {
    const start = this.#at;
    const value: unknown = JSON.parse(this.#take(PLAIN));
    return { kind: 'plain', value, start, end: this.#at };
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
}
