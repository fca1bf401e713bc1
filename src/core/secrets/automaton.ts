import type { Needle } from './needles.ts';

/** Called for a needle that ends before `end`; of several with the same end, the longest. */
export type OnNeedle = (end: number, length: number, name: string) => void;

/** The start state. */
export const ROOT = 0;

/** Compare at most this many first bytes for a fast skip. */
const MAX_WINDOW = 16;

/**
 * Finds many needles at once (Aho–Corasick) in linear time; the state at the end of a chunk is all that the next chunk
 * needs. In the start state, most bytes are skipped (Wu–Manber): the last two bytes of a window determine the minimum
 * distance to the next needle.
 */
export class NeedleAutomaton {
  readonly #names: string[];
  readonly #wholeOnly: ReadonlySet<string>;
  readonly #root = new Int32Array(256);
  readonly #byte: Uint8Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fail: Int32Array;
  readonly #depth: Int32Array;
  /** The longest needle that ends in a state, and its secret. */
  readonly #match: Int32Array;
  readonly #matchName: Uint16Array;
  /** The secret whose needle passes through a state. */
  readonly #throughName: Uint16Array;
  readonly #window: number;
  readonly #shift: Uint8Array;
  #nodes = 1;

  /** Of the secrets in `wholeOnly` nothing shows that bytes are the beginning of one. */
  constructor(all: readonly Needle[], wholeOnly: ReadonlySet<string> = new Set()) {
    // A node that several secrets share belongs to the first.
    const needles = [
      ...all.filter(({ name }) => !wholeOnly.has(name)),
      ...all.filter(({ name }) => wholeOnly.has(name)),
    ];
    this.#wholeOnly = wholeOnly;
    if (needles.some(({ bytes }) => bytes.length < 2)) throw new Error('Internal: a needle is too short');
    const capacity = needles.reduce((sum, { bytes }) => sum + bytes.length, 1);
    this.#names = [...new Set(needles.map(({ name }) => name))];
    this.#byte = new Uint8Array(capacity);
    this.#child = new Int32Array(capacity);
    this.#sibling = new Int32Array(capacity);
    this.#fail = new Int32Array(capacity);
    this.#depth = new Int32Array(capacity);
    this.#match = new Int32Array(capacity);
    this.#matchName = new Uint16Array(capacity);
    this.#throughName = new Uint16Array(capacity);
    for (const needle of needles) this.#insert(needle);
    this.#link();
    this.#window = Math.min(MAX_WINDOW, ...needles.map(({ bytes }) => bytes.length));
    this.#shift = shiftsOf(needles, this.#window);
  }

  /** Reads `data[from..]` from a state and returns the final state. */
  scan(node: number, data: Uint8Array, from: number, onNeedle: OnNeedle): number {
    const shift = this.#shift;
    const toLast = this.#window - 1;
    const lastStart = data.length - this.#window;
    for (let at = from; at < data.length; ) {
      if (node === ROOT) {
        while (at <= lastStart) {
          const jump = shift[(data[at + toLast - 1]! << 8) | data[at + toLast]!]!;
          if (jump === 0) break;
          at += jump;
        }
      }
      do {
        node = this.#step(node, data[at++]!);
        const length = this.#match[node]!;
        if (length !== 0) onNeedle(at, length, this.#names[this.#matchName[node]!]!);
      } while (node !== ROOT && at < data.length);
    }
    return node;
  }

  /** The number of last bytes that may be the beginning of a needle. */
  depthOf(node: number): number {
    return this.#depth[node]!;
  }

  /** The longest last bytes that are the beginning of a needle whose beginnings may be shown, and its secret. */
  beginningAt(node: number): { length: number; name: string } | undefined {
    for (let each = node; each !== ROOT; each = this.#fail[each]!) {
      const name = this.#names[this.#throughName[each]!]!;
      if (!this.#wholeOnly.has(name)) return { length: this.#depth[each]!, name };
    }
    return undefined;
  }

  #step(node: number, byte: number): number {
    for (let from = node; ; from = this.#fail[from]!) {
      const next = this.#childOf(from, byte);
      if (next !== ROOT || from === ROOT) return next;
    }
  }

  #childOf(node: number, byte: number): number {
    if (node === ROOT) return this.#root[byte]!;
    let child = this.#child[node]!;
    while (child !== ROOT && this.#byte[child] !== byte) child = this.#sibling[child]!;
    return child;
  }

  #insert({ name, bytes }: Needle): void {
    const owner = this.#names.indexOf(name);
    let node = ROOT;
    for (const byte of bytes) node = this.#childOf(node, byte) || this.#grow(node, byte, owner);
    this.#match[node] = bytes.length;
    this.#matchName[node] = owner;
  }

  #grow(parent: number, byte: number, owner: number): number {
    const node = this.#nodes++;
    this.#byte[node] = byte;
    this.#depth[node] = this.#depth[parent]! + 1;
    this.#throughName[node] = owner;
    if (parent === ROOT) this.#root[byte] = node;
    else {
      this.#sibling[node] = this.#child[parent]!;
      this.#child[parent] = node;
    }
    return node;
  }

  /** Computes the fail links: for each state, the longest suffix that is also a prefix of a needle. */
  #link(): void {
    const queue = new Int32Array(this.#nodes);
    let filled = 0;
    for (const node of this.#root) if (node !== ROOT) queue[filled++] = node;
    for (let at = 0; at < filled; at++) {
      const parent = queue[at]!;
      for (let node = this.#child[parent]!; node !== ROOT; node = this.#sibling[node]!) {
        queue[filled++] = node;
        const shorter = this.#step(this.#fail[parent]!, this.#byte[node]!);
        this.#fail[node] = shorter;
        if (this.#match[node] !== 0 || this.#match[shorter] === 0) continue;
        this.#match[node] = this.#match[shorter]!;
        this.#matchName[node] = this.#matchName[shorter]!;
      }
    }
  }
}

/** For each pair of bytes at the end of a window: the minimum distance to the next needle. */
function shiftsOf(needles: readonly Needle[], window: number): Uint8Array {
  const shifts = new Uint8Array(65_536).fill(window - 1);
  for (const { bytes } of needles) {
    for (let at = 1; at < window; at++) {
      const pair = (bytes[at - 1]! << 8) | bytes[at]!;
      shifts[pair] = Math.min(shifts[pair]!, window - 1 - at);
    }
  }
  return shifts;
}
