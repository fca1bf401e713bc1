type Take = { kind: 'take'; test: (code: number) => boolean };
type Assert = { kind: 'assert'; holds: (search: Search, at: number) => boolean };

/** A step of a compiled pattern. A `split` tries `to` first, then `or`. */
export type Step =
  | Take
  | Assert
  | { kind: 'split'; to: number; or: number }
  | { kind: 'jump'; to: number }
  | { kind: 'save'; slot: number }
  | { kind: 'match' };

/** A part of a pattern. */
export type Node =
  | Take
  | Assert
  | { kind: 'sequence' | 'choice'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number; lazy: boolean }
  | { kind: 'group'; node: Node; slot: number };

/** A text that is searched. */
interface Search {
  text: string;
  /** Whether a character outside of the basic plane is one character, as with the flag `u`. */
  unicode: boolean;
  /** Is called for each character. */
  tick: (() => void) | undefined;
}

const MAX_STEPS = 2000;

/** Where the groups of a match begin and end. */
export type Saved = readonly (number | undefined)[];
interface Thread {
  pc: number;
  saved: Saved;
}

/** One run of the steps of a pattern over a text. */
export class Matcher {
  readonly #steps: readonly Step[];
  readonly #search: Search;
  readonly #marks: Int32Array;

  constructor(steps: readonly Step[], search: Search) {
    this.#steps = steps;
    this.#search = search;
    this.#marks = new Int32Array(steps.length).fill(-1);
  }

  /** The first match in the text. */
  first(): Saved | undefined {
    return this.#match(0, () => true);
  }

  /** Whether a match begins here. */
  beginsAt(at: number): boolean {
    return this.#match(at, (start) => start === at) !== undefined;
  }

  /** Whether a match ends here. */
  endsAt(at: number): boolean {
    return this.#match(0, () => true, at) !== undefined;
  }

  #match(from: number, mayBegin: (at: number) => boolean, onlyEnd?: number): Saved | undefined {
    const { text, unicode, tick } = this.#search;
    let found: Saved | undefined;
    let now: Thread[] = [];
    for (let at = from; at <= (onlyEnd ?? text.length); ) {
      tick?.();
      const next: Thread[] = [];
      const code = (unicode ? text.codePointAt(at) : text.charCodeAt(at)) ?? Number.NaN;
      // A match that begins earlier wins.
      if (found === undefined && mayBegin(at)) this.#add(now, 0, [], at);
      for (const { pc, saved } of now) {
        const step = this.#steps[pc]!;
        if (step.kind === 'match' && (onlyEnd ?? at) === at) {
          found = saved;
          break;
        }
        if (step.kind === 'take' && at < text.length && step.test(code)) next.push({ pc: pc + 1, saved });
      }
      if (next.length === 0 && (found !== undefined || !mayBegin(at + 1))) break;
      at += code > 0xffff ? 2 : 1;
      now = [];
      // Every step is entered once a position, by the thread that comes first.
      for (const { pc, saved } of next) this.#add(now, pc, saved, at);
    }
    return found;
  }

  /** Follows the steps that take no character. */
  #add(list: Thread[], from: number, caught: Saved, at: number): void {
    const open: Thread[] = [{ pc: from, saved: caught }];
    for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
      const { pc, saved } = thread;
      if (this.#marks[pc] === at) continue;
      this.#marks[pc] = at;
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
          if (step.holds(this.#search, at)) open.push({ pc: pc + 1, saved });
          break;
        default:
          list.push({ pc, saved });
      }
    }
  }
}

/** The steps of a pattern. */
export function stepsOf(node: Node): Step[] {
  const steps: Step[] = [];
  emit(node, steps);
  steps.push({ kind: 'match' });
  return steps;
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
