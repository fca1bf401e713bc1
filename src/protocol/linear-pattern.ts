/** A step of a compiled pattern. A `split` tries `to` first, then `or`. */
type Step =
  | { kind: 'take'; test: (code: number) => boolean }
  | { kind: 'split'; to: number; or: number }
  | { kind: 'jump'; to: number }
  | { kind: 'save'; slot: number }
  | { kind: 'assert'; holds: (text: string, at: number) => boolean }
  | { kind: 'match' };

type Node =
  | { kind: 'take'; test: (code: number) => boolean }
  | { kind: 'assert'; holds: (text: string, at: number) => boolean }
  | { kind: 'sequence' | 'choice'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number; lazy: boolean }
  | { kind: 'group'; node: Node; slot: number };

const MAX_STEPS = 2000;
const MAX_REPEAT = 1000;
const MAX_DEPTH = 50;

/**
 * A regular expression whose search takes time linear in the text, whatever the text is: all alternatives advance together (Pike's
 * algorithm), so that nothing is ever tried twice. It has what JavaScript's have, without backreferences and look-around. Throws a
 * SyntaxError that says what is wrong.
 */
export class LinearPattern {
  readonly #steps: readonly Step[];
  readonly #names: readonly string[];

  constructor(source: string) {
    const { node, names } = new PatternReader(source).read();
    const steps: Step[] = [];
    emit(node, steps);
    steps.push({ kind: 'match' });
    this.#steps = steps;
    this.#names = names;
  }

  /** The named groups, in their order. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The named groups of the first match; groups without a match are left out. Undefined when nothing matches. */
  search(text: string): Record<string, string> | undefined {
    const marks = new Int32Array(this.#steps.length).fill(-1);
    let found: Saved | undefined;
    let now: Thread[] = [];
    for (let at = 0; at <= text.length; at++) {
      const next: Thread[] = [];
      // A match that begins earlier wins.
      if (found === undefined) this.#add(now, 0, [], text, at, marks);
      for (const { pc, saved } of now) {
        const step = this.#steps[pc]!;
        if (step.kind === 'match') {
          found = saved;
          break;
        }
        if (step.kind === 'take' && at < text.length && step.test(text.charCodeAt(at)))
          next.push({ pc: pc + 1, saved });
      }
      if (next.length === 0 && found !== undefined) break;
      now = [];
      // Every step is entered once a position, by the thread that comes first.
      for (const { pc, saved } of next) this.#add(now, pc, saved, text, at + 1, marks);
    }
    return found && this.#groupsOf(found, text);
  }

  /** Follows the steps that take no character. */
  #add(list: Thread[], from: number, caught: Saved, text: string, at: number, marks: Int32Array): void {
    const open: Thread[] = [{ pc: from, saved: caught }];
    for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
      const { pc, saved } = thread;
      if (marks[pc] === at) continue;
      marks[pc] = at;
      const step = this.#steps[pc]!;
      switch (step.kind) {
        case 'jump':
          open.push({ pc: step.to, saved });
          break;
        case 'split':
          open.push({ pc: step.or, saved }, { pc: step.to, saved });
          break;
        case 'save': {
          const next = [...saved];
          next[step.slot] = at;
          open.push({ pc: pc + 1, saved: next });
          break;
        }
        case 'assert':
          if (step.holds(text, at)) open.push({ pc: pc + 1, saved });
          break;
        default:
          list.push({ pc, saved });
      }
    }
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

type Saved = readonly (number | undefined)[];
interface Thread {
  pc: number;
  saved: Saved;
}

function emit(node: Node, steps: Step[]): void {
  if (steps.length > MAX_STEPS) throw new SyntaxError(`the pattern is too large; its repetitions count, too`);
  switch (node.kind) {
    case 'take':
    case 'assert':
      steps.push(node);
      return;
    case 'group':
      steps.push({ kind: 'save', slot: 2 * node.slot });
      emit(node.node, steps);
      steps.push({ kind: 'save', slot: 2 * node.slot + 1 });
      return;
    case 'sequence':
      for (const each of node.nodes) emit(each, steps);
      return;
    case 'choice':
      emitChoice(node.nodes, steps);
      return;
    default:
      emitRepeat(node, steps);
  }
}

function emitChoice([first, ...rest]: readonly Node[], steps: Step[]): void {
  if (rest.length === 0) {
    emit(first!, steps);
    return;
  }
  const split = { kind: 'split' as const, to: steps.length + 1, or: 0 };
  steps.push(split);
  emit(first!, steps);
  const jump = { kind: 'jump' as const, to: 0 };
  steps.push(jump);
  split.or = steps.length;
  emitChoice(rest, steps);
  jump.to = steps.length;
}

function emitRepeat({ node, min, max, lazy }: Extract<Node, { kind: 'repeat' }>, steps: Step[]): void {
  for (let n = 0; n < min; n++) emit(node, steps);
  const optional = () => {
    const split = { kind: 'split' as const, to: 0, or: 0 };
    steps.push(split);
    const begin = steps.length;
    emit(node, steps);
    return (end: number) => {
      [split.to, split.or] = lazy ? [end, begin] : [begin, end];
    };
  };
  if (max === Number.POSITIVE_INFINITY) {
    const again = steps.length;
    const settle = optional();
    steps.push({ kind: 'jump', to: again });
    settle(steps.length);
    return;
  }
  const open = Array.from({ length: max - min }, optional);
  for (const settle of open) settle(steps.length);
}

const CLASSES: Readonly<Record<string, (code: number) => boolean>> = {
  d: isDigit,
  w: isWord,
  s: isSpace,
  D: (code) => !isDigit(code),
  W: (code) => !isWord(code),
  S: (code) => !isSpace(code),
};
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };

/** Reads the text of a pattern. */
class PatternReader {
  readonly #source: string;
  readonly #names: string[] = [];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
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
    const char = this.#take();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return { kind: 'take', test: this.#class() };
      case '.':
        return { kind: 'take', test: (code) => code !== 10 && code !== 13 };
      case '^':
        return { kind: 'assert', holds: (_, at) => at === 0 };
      case '$':
        return { kind: 'assert', holds: (text, at) => at === text.length };
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

  #escape(): Node {
    if (this.#next === 'b' || this.#next === 'B') {
      const wanted = this.#take() === 'b';
      return { kind: 'assert', holds: (text, at) => isBoundary(text, at) === wanted };
    }
    return { kind: 'take', test: this.#escapedTest() };
  }

  #escapedTest(): (code: number) => boolean {
    const char = this.#take();
    if (CLASSES[char] !== undefined) return CLASSES[char];
    const code = this.#escapedCode(char);
    return (each) => each === code;
  }

  #escapedCode(char: string): number {
    if (CONTROLS[char] !== undefined) return CONTROLS[char].charCodeAt(0);
    if (char === 'u' || char === 'x') {
      const digits = this.#source.slice(this.#at, this.#at + (char === 'u' ? 4 : 2));
      if (!/^[\da-f]+$/i.test(digits) || digits.length !== (char === 'u' ? 4 : 2))
        throw this.#wrong(`\\${char} needs hexadecimal digits`);
      this.#at += digits.length;
      return Number.parseInt(digits, 16);
    }
    if (/[A-Za-z0-9]/.test(char)) throw this.#wrong(`\\${char} is not supported`);
    return char.charCodeAt(0);
  }

  #class(): (code: number) => boolean {
    const isNegated = this.#took('^');
    const tests: ((code: number) => boolean)[] = [];
    while (!this.#took(']')) {
      const char = this.#take();
      if (char === '\\' && CLASSES[this.#next ?? ''] !== undefined) {
        tests.push(this.#escapedTest());
        continue;
      }
      const from = this.#codeOf(char);
      const isRange = this.#next === '-' && this.#source[this.#at + 1] !== ']';
      if (!isRange) {
        tests.push((code) => code === from);
        continue;
      }
      this.#at++;
      const to = this.#codeOf(this.#take());
      if (to < from) throw this.#wrong('a range in [] is out of order');
      tests.push((code) => code >= from && code <= to);
    }
    return (code) => tests.some((test) => test(code)) !== isNegated;
  }

  #codeOf(char: string): number {
    return char === '\\' ? this.#escapedCode(this.#take()) : char.charCodeAt(0);
  }

  get #next(): string | undefined {
    return this.#source[this.#at];
  }

  #take(): string {
    const char = this.#source[this.#at];
    if (char === undefined) throw this.#wrong('the pattern ends too early');
    this.#at++;
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
  const wanted = char.charCodeAt(0);
  return { kind: 'take', test: (code) => code === wanted };
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isWord(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
}

function isSpace(code: number): boolean {
  return (code >= 9 && code <= 13) || code === 32 || code === 160 || code === 0xfeff;
}

function isBoundary(text: string, at: number): boolean {
  const before = at > 0 && isWord(text.charCodeAt(at - 1));
  const after = at < text.length && isWord(text.charCodeAt(at));
  return before !== after;
}
