import type { Needle } from './needles.ts';

/** Told of a needle that ends before `end`; of several that end there, the longest. */
export type OnNeedle = (end: number, length: number, name: string) => void;

/** The number of the node in which nothing has been read yet. */
export const ROOT = 0;

/** More of a needle's beginning than this need not differ to pass it by quickly. */
const MAX_WINDOW = 16;

/**
 * Finds many needles at once (Aho–Corasick): the time is linear in the bytes whatever they hold, and the node in which a chunk
 * ends is all that the next one needs. Where nothing has begun, most bytes are not even looked at (Wu–Manber): the two last
 * ones of a window say how far the next needle is at least.
 */
export class NeedleAutomaton {
  readonly #names: string[];
  readonly #root = new Int32Array(256);
  readonly #byte: Uint8Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fail: Int32Array;
  readonly #depth: Int32Array;
  /** The length of the longest needle that ends in a node, and whose it is. */
  readonly #match: Int32Array;
  readonly #matchName: Uint16Array;
  /** Whose needle goes through a node. */
  readonly #throughName: Uint16Array;
  readonly #window: number;
  readonly #shift: Uint8Array;
  #nodes = 1;

  constructor(needles: readonly Needle[]) {
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

  /** Reads `data[from..]`, beginning in a node, and returns the node in which it ends. */
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

  /** How many of the bytes read last may be the beginning of a needle. */
  depthOf(node: number): number {
    return this.#depth[node]!;
  }

  /** Whose needle it would be. */
  nameOf(node: number): string {
    return this.#names[this.#throughName[node]!]!;
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

  /** Gives each node the one to go on from when it goes no further: the longest end of what was read that is a beginning, too. */
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

/** For each pair of bytes at the end of a window: how many bytes further the next needle may begin. */
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
