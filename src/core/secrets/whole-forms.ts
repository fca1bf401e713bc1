import { wholeNeedlesOf } from './needles.ts';
import type { Secret } from './secret.ts';
import { addSpan, covered, type Span, spansWithin } from './spans.ts';

/**
 * Overwrites secrets that the tool does not have in what it reads. Nothing that the tool can see may depend on a part
 * of a secret, or it could guess one part after the other. So only whole forms are overwritten, a stream holds back the
 * same number of bytes whatever they are, and each byte is one step in a full table, which takes the same time.
 */
export class WholeForms {
  /** The column of each byte; bytes that are in no form share the first. */
  readonly #columns = new Uint8Array(256);
  /** A row of the table: where the next row starts for each column, then the length of the longest form that ends here. */
  readonly #width: number;
  readonly #table: Int32Array;
  readonly #longest: number;

  constructor(secrets: readonly Secret[]) {
    const forms = wholeNeedlesOf(secrets).map(({ bytes }) => bytes);
    let count = 1;
    for (const form of forms) for (const byte of form) this.#columns[byte] ||= count++;
    this.#width = count + 1;
    this.#longest = Math.max(...forms.map(({ length }) => length));
    const rows = forms.reduce((sum, { length }) => sum + length, 1);
    this.#table = new Int32Array(rows * this.#width);
    this.#complete(this.#insert(forms));
  }

  /** Overwrites the secrets in complete bytes. */
  cover(bytes: Buffer): Buffer {
    const spans: Span[] = [];
    this.scan(0, bytes, 0, spans);
    return covered(bytes, spans);
  }

  /** For one stream of bytes. */
  stream(): WholeFormsStream {
    return new WholeFormsStream(this, this.#longest - 1);
  }

  /** Reads `data[from..]` from the start of a row, adds the spans of whole forms, and returns the last row's start. */
  scan(start: number, data: Buffer, from: number, spans: Span[]): number {
    const table = this.#table;
    const columns = this.#columns;
    const toLength = this.#width - 1;
    const end = data.length;
    let at = start;
    for (let place = from; place < end; place++) {
      at = table[at + columns[data[place]!]!]!;
      const length = table[at + toLength]!;
      if (length !== 0) addSpan(spans, { from: Math.max(0, place + 1 - length), to: place + 1, name: '' });
    }
    return at;
  }

  /** Makes a tree of the forms. Returns the start of the first row that is free. */
  #insert(forms: readonly Buffer[]): number {
    const [table, width] = [this.#table, this.#width];
    let free = width;
    for (const form of forms) {
      let at = 0;
      for (const byte of form) {
        const cell = at + this.#columns[byte]!;
        if (table[cell] === 0) {
          table[cell] = free;
          free += width;
        }
        at = table[cell]!;
      }
      table[at + width - 1] = form.length;
    }
    return free;
  }

  /** Fills the empty cells: where a form does not go on, the longest of its ends that begins a form does (Aho–Corasick). */
  #complete(end: number): void {
    const [table, width] = [this.#table, this.#width];
    const shorter = new Int32Array(end / width);
    const queue = new Int32Array(end / width);
    let filled = 1;
    for (let each = 0; each < filled; each++) {
      const at = queue[each]!;
      const fallbacks = shorter[at / width]!;
      for (let column = 1; column < width - 1; column++) {
        const fallback = at === 0 ? 0 : table[fallbacks + column]!;
        const next = table[at + column]!;
        if (next === 0) table[at + column] = fallback;
        else {
          shorter[next / width] = fallback;
          table[next + width - 1] ||= table[fallback + width - 1]!;
          queue[filled++] = next;
        }
      }
    }
  }
}

/** Overwrites whole forms in one stream, however it is cut into pieces. */
export class WholeFormsStream {
  readonly #forms: WholeForms;
  readonly #keptBytes: number;
  #at = 0;
  #held: Buffer = Buffer.alloc(0);
  #spans: Span[] = [];

  constructor(forms: WholeForms, keptBytes: number) {
    this.#forms = forms;
    this.#keptBytes = keptBytes;
  }

  get holdsBytes(): boolean {
    return this.#held.length > 0;
  }

  /** Takes the next bytes and returns those that no later byte can change. */
  push(chunk: Uint8Array): Buffer {
    const data = Buffer.concat([this.#held, chunk]);
    this.#at = this.#forms.scan(this.#at, data, this.#held.length, this.#spans);
    return this.#pass(data, Math.max(0, data.length - this.#keptBytes));
  }

  /** Passes on all that is held. The rest of a form is still overwritten if it follows. */
  flush(): Buffer {
    return this.#pass(this.#held, this.#held.length);
  }

  #pass(data: Buffer, end: number): Buffer {
    const passed = covered(data.subarray(0, end), this.#spans);
    this.#spans = spansWithin(this.#spans, end, data.length);
    this.#held = data.subarray(end);
    return passed;
  }
}
