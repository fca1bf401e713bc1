import { Matcher, type Node, type Saved, type Step, stepsOf } from './pattern-matcher.ts';

const MAX_REPEAT = 1000;
const MAX_DEPTH = 50;
const MAX_ESCAPE_CHARS = 100;

/**
 * A regular expression whose search takes time linear in the text, whatever the text is: all alternatives advance together (Pike's
 * algorithm), so that nothing is ever tried twice. It has what JavaScript's have, without backreferences and look-around. Throws a
 * SyntaxError that says what is wrong. With `isInFull` it is read as with the flag `u`, and has look-around, each of which adds a search at each
 * character.
 */
export class LinearPattern {
  readonly #steps: readonly Step[];
  readonly #names: readonly string[];
  readonly #isInFull: boolean;

  constructor(source: string, { isInFull = false }: { isInFull?: boolean } = {}) {
    const { node, names } = new PatternReader(source, isInFull).read();
    this.#steps = stepsOf(node);
    this.#names = names;
    this.#isInFull = isInFull;
  }

  /** The named groups, in their order. */
  get names(): readonly string[] {
    return this.#names;
  }

  /**
   * The named groups of the first match; groups without a match are left out. Undefined when nothing matches. Calls `tick` for each
   * character, which may end a long search by throwing.
   */
  search(text: string, tick?: () => void): Record<string, string> | undefined {
    const found = new Matcher(this.#steps, { text, unicode: this.#isInFull, tick }).first();
    return found && this.#groupsOf(found, text);
  }

  #groupsOf(saved: Saved, text: string): Record<string, string> {
    return Object.fromEntries(
      this.#names.flatMap((name, index) => {
        const [start, end] = [saved[2 * index], saved[2 * index + 1]];
        return start === undefined || end === undefined ? [] : [[name, text.slice(start, end)]];
      }),
    );
  }
}

/** What stands for one character behind a backslash. */
const ESCAPED = /^(?:u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[dDwWsSnrtfv]|[^A-Za-z\d])/;
const ESCAPED_IN_FULL =
  /^(?:u\{[\dA-Fa-f]+\}|u[dD][89abAB][\dA-Fa-f]{2}\\u[dD][c-fC-F][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|0(?!\d)|[pP]\{[^}]*\}|[dDwWsSnrtfv]|[^A-Za-z\d])/u;

/** Reads the text of a pattern. */
class PatternReader {
  readonly #source: string;
  readonly #isInFull: boolean;
  readonly #names: string[] = [];
  #at = 0;
  #depth = 0;

  constructor(source: string, isInFull: boolean) {
    this.#source = source;
    this.#isInFull = isInFull;
  }

  read(): { node: Node; names: string[] } {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw this.#wrong("')' without '('");
    return { node, names: this.#names };
  }

  #choice(): Node {
    if (++this.#depth > MAX_DEPTH) throw this.#wrong('groups are nested too deep');
    const nodes = [this.#sequence()];
    while (this.#took('|')) nodes.push(this.#sequence());
    this.#depth--;
    return nodes.length === 1 ? nodes[0]! : { kind: 'choice', nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && this.#next !== '|' && this.#next !== ')')
      nodes.push(this.#repeated(this.#atom()));
    return { kind: 'sequence', nodes };
  }

  #repeated(node: Node): Node {
    const bounds = this.#bounds();
    if (bounds === undefined) return node;
    if (node.kind === 'assert') throw this.#wrong('nothing to repeat');
    return { kind: 'repeat', node, ...bounds, lazy: this.#took('?') };
  }

  #bounds(): { min: number; max: number } | undefined {
    const none = Number.POSITIVE_INFINITY;
    if (this.#took('*')) return { min: 0, max: none };
    if (this.#took('+')) return { min: 1, max: none };
    if (this.#took('?')) return { min: 0, max: 1 };
    const counted = /^\{(\d+)(,(\d*))?\}/.exec(this.#source.slice(this.#at, this.#at + 20));
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    const max = counted[2] === undefined ? min : counted[3] === '' ? none : Number(counted[3]);
    if (min > max || min > MAX_REPEAT || (max !== none && max > MAX_REPEAT))
      throw this.#wrong(`a repetition is at most ${MAX_REPEAT}, and its bounds are in order`);
    return { min, max };
  }

  #atom(): Node {
    const begin = this.#at;
    const char = this.#take();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        while (this.#next !== ']') if (this.#take() === '\\') this.#take();
        this.#at++;
        return this.#oneOf(begin);
      case '.':
        return this.#oneOf(begin);
      case '^':
        return { kind: 'assert', holds: (_, at) => at === 0 };
      case '$':
        return { kind: 'assert', holds: ({ text }, at) => at === text.length };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw this.#wrong('nothing to repeat');
      case '{':
        if (/^\d+(?:,\d*)?\}/.test(this.#source.slice(this.#at, this.#at + 20)))
          throw this.#wrong('nothing to repeat');
        return literal(char);
      default:
        return literal(char);
    }
  }

  #group(): Node {
    let slot: number | undefined;
    if (this.#took('?')) {
      const look = /^<?[=!]/.exec(this.#source.slice(this.#at, this.#at + 2))?.[0];
      if (look !== undefined && this.#isInFull) return this.#look(look);
      if (this.#took('<')) {
        const name = /^[A-Za-z_]\w*(?=>)/.exec(this.#source.slice(this.#at, this.#at + 100))?.[0];
        if (name === undefined)
          throw this.#wrong('look-around is not supported, and a group needs a name in <>');
        if (this.#names.includes(name)) throw this.#wrong(`two groups have the name ${name}`);
        this.#at += name.length + 1;
        slot = this.#names.push(name) - 1;
      } else if (!this.#took(':')) throw this.#wrong('only (?:…) and (?<name>…) are supported');
    }
    const node = this.#choice();
    if (!this.#took(')')) throw this.#wrong("'(' without ')'");
    return slot === undefined ? node : { kind: 'group', node, slot };
  }

  #look(kind: string): Node {
    this.#at += kind.length;
    const before = this.#names.length;
    const steps = stepsOf(this.#choice());
    if (!this.#took(')')) throw this.#wrong("'(' without ')'");
    if (this.#names.length > before) throw this.#wrong('a group in a look-around has no name');
    const wanted = kind.endsWith('=');
    const isBehind = kind.startsWith('<');
    return {
      kind: 'assert',
      holds: (search, at) => {
        const matcher = new Matcher(steps, search);
        return (isBehind ? matcher.endsAt(at) : matcher.beginsAt(at)) === wanted;
      },
    };
  }

  #escape(): Node {
    const begin = this.#at - 1;
    if (this.#next === 'b' || this.#next === 'B') {
      const wanted = this.#take() === 'b';
      return { kind: 'assert', holds: ({ text }, at) => isBoundary(text, at) === wanted };
    }
    const rest = this.#source.slice(this.#at, this.#at + MAX_ESCAPE_CHARS);
    const [escaped] = (this.#isInFull ? ESCAPED_IN_FULL : ESCAPED).exec(rest) ?? [];
    if (escaped === undefined) throw this.#wrong(`\\${this.#next ?? ''} is not supported`);
    this.#at += escaped.length;
    return this.#oneOf(begin);
  }

  /** What JavaScript's engine takes for one character, from a place of the pattern to this one. */
  #oneOf(begin: number): Node {
    const source = this.#source.slice(begin, this.#at);
    let native: RegExp;
    try {
      native = new RegExp(`^(?:${source})$`, this.#isInFull ? 'u' : '');
    } catch {
      throw this.#wrong(`${source} is not valid`);
    }
    const ask = (code: number) => native.test(String.fromCodePoint(code));
    const ofAscii = Array.from({ length: 128 }, (_, code) => ask(code));
    return { kind: 'take', test: (code) => ofAscii[code] ?? ask(code) };
  }

  get #next(): string | undefined {
    return this.#source[this.#at];
  }

  #take(): string {
    const code = this.#isInFull ? this.#source.codePointAt(this.#at) : this.#source.charCodeAt(this.#at);
    if (code === undefined || Number.isNaN(code)) throw this.#wrong('the pattern ends too early');
    const char = String.fromCodePoint(code);
    this.#at += char.length;
    return char;
  }

  #took(char: string): boolean {
    if (this.#next !== char) return false;
    this.#at++;
    return true;
  }

  #wrong(why: string): SyntaxError {
    return new SyntaxError(`${why}, at character ${this.#at}`);
  }
}

function literal(char: string): Node {
  const wanted = char.codePointAt(0);
  return { kind: 'take', test: (code) => code === wanted };
}

function isWord(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
  );
}

function isBoundary(text: string, at: number): boolean {
  const before = at > 0 && isWord(text.charCodeAt(at - 1));
  const after = at < text.length && isWord(text.charCodeAt(at));
  return before !== after;
}
