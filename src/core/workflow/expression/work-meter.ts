import { TooCostly } from '../../../protocol/too-costly.ts';

/** All that one evaluation may take: seconds at most, and some 100 MB. */
const MOST_WORK = 100_000_000;
/** A character of a text costs 1, and this an element of a list and a node of the expression each time that it is evaluated. */
const ELEMENT = 10;
/** A search compares a text of this length about as fast as one character. */
const COMPARED_AT_ONCE = 100;

/** Counts what an evaluation takes. Throws TooCostly when it is too much. */
export class WorkMeter {
  #work = 0;

  restart(): void {
    this.#work = 0;
  }

  spend(more: number): void {
    this.#work += more;
    if (this.#work > MOST_WORK)
      throw new TooCostly(
        'it takes too much work: its loops or the texts and lists that it reads are too large',
      );
  }

  /** Counts all that a value contains. */
  readonly spendAll = (value: unknown): void => {
    this.spend(ELEMENT + charsOf(value));
    if (Array.isArray(value)) value.forEach(this.spendAll);
    else if (isPlainObject(value)) Object.entries(value).forEach(this.spendAll);
  };

  /** Makes the loops, functions and operators of a checked expression count. */
  attach(node: Checked): void {
    const target = node.meta?.alternate ?? node;
    const { op, args, handle } = target;
    for (const child of childrenOf(args)) this.attach(child);
    if (handle === undefined) return;
    const cost = this.#costOf(op, args);
    target.handle = (...given) => {
      cost(given);
      return handle(...given);
    };
  }

  #costOf(op: string, args: unknown): (given: unknown[]) => void {
    switch (op) {
      case 'comprehension': {
        const round = nodesIn((args as { step: Checked }).step) * ELEMENT;
        return ([items]) => this.spend(lengthOf(items) * round);
      }
      case 'call':
      case 'rcall':
        return ([values]) => this.#spendCall((args as [string])[0], values as unknown[]);
      case '==':
      case '!=':
        return ([left, right]) => (charsOf(right) > 0 || isObject(right)) && this.spendAll(left);
      case 'in':
        return ([, right]) => Array.isArray(right) && this.spendAll(right);
      default:
        return ([left, right]) => this.spend(sizeOf(left) + sizeOf(right));
    }
  }

  #spendCall(name: string, [first, second]: unknown[]): void {
    if (name === 'join') {
      this.spendAll(first);
      this.spend(lengthOf(first) * charsOf(second));
      return;
    }
    const each = name === 'split' ? ELEMENT : 1;
    this.spend(charsOf(first) * (each + charsOf(second) / COMPARED_AT_ONCE) + charsOf(second));
  }
}

/** What the library makes of a node when it checks it: `handle` computes its value from those of its children. */
export interface Checked {
  op: string;
  args: unknown;
  handle?: (...given: unknown[]) => unknown;
  meta?: { alternate?: Checked };
}

function childrenOf(args: unknown): Checked[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  if (!isObject(args)) return [];
  if ('op' in args) return [args as Checked];
  const { iterable, init, step } = args as Record<string, unknown>;
  return childrenOf([iterable, init, step]);
}

function nodesIn(node: Checked): number {
  const { args } = node.meta?.alternate ?? node;
  return childrenOf(args).reduce((sum, child) => sum + nodesIn(child), 1);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isPlainObject(value: unknown): value is object {
  return isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

function charsOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

/** The rounds of a loop over a list or over the keys of a map. */
function lengthOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

/** What an operator copies of its operand. */
function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length * ELEMENT : charsOf(value);
}
