import { LineReader, MAX_LINE_BYTES } from '../jsonl.ts';
import { MARKER_KINDS, type MarkerKind, type MarkerPiece } from './marker.ts';

/** Finds markers in a text that arrives in chunks, cut anywhere, even inside a line ending or a character. */
export class MarkerStream {
  readonly #lines: MarkerLines;
  readonly #reader: LineReader;

  constructor(onPiece: (piece: MarkerPiece) => void, kinds: readonly MarkerKind[] = MARKER_KINDS) {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    this.#lines = new MarkerLines(onPiece, kinds);
    this.#reader = new LineReader(
      (bytes, start, end, cut) => this.#lines.line(decoder.decode(bytes.subarray(start, end)), cut),
      MAX_LINE_BYTES,
      { keepsEmpty: true },
    );
  }

  /** Takes the next chunk, bytes in UTF-8. */
  push(part: Uint8Array): void {
    this.#reader.push(part);
  }

  /** The text has ended: completes an unfinished line and an open block. */
  end(): void {
    this.#reader.end();
    this.#lines.flush();
  }
}

/** Parses a whole text. */
export function parseMarkers(text: string, kinds: readonly MarkerKind[] = MARKER_KINDS): MarkerPiece[] {
  const pieces: MarkerPiece[] = [];
  const stream = new MarkerStream((piece) => pieces.push(piece), kinds);
  stream.push(new TextEncoder().encode(text));
  stream.end();
  return pieces;
}

/** The longest block in characters: a program that never ends a block must not fill the memory. */
export const MAX_BLOCK_CHARS = 65_536;

export const MARKER_NAME = /^[A-Z][A-Z0-9_]*$/;
const MARKER_LINE = /^\[([A-Z][A-Z0-9_]*)\](.*)$/s;

type Line = { text: string; cut: boolean };
type Block = {
  kind: MarkerKind;
  line: number;
  lines: Line[];
  chars: number;
  cut: boolean;
  /** Whether a blank line was seen, and whether text followed it. */
  paragraph: 'before' | 'blank' | 'after';
};

/** Finds markers in consecutive lines (contract §8). Other lines, and malformed markers, are text. */
export class MarkerLines {
  readonly #onPiece: (piece: MarkerPiece) => void;
  readonly #kinds: ReadonlyMap<string, MarkerKind>;
  #block: Block | undefined;
  #count = 0;

  constructor(onPiece: (piece: MarkerPiece) => void, kinds: readonly MarkerKind[] = MARKER_KINDS) {
    const wrong = kinds.find(({ name }) => !MARKER_NAME.test(name));
    if (wrong !== undefined) throw new Error(`A marker cannot be named '${wrong.name}'`);
    this.#onPiece = onPiece;
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  /** Whether it holds lines of an open block. */
  get isOpen(): boolean {
    return this.#block !== undefined;
  }

  /** Takes the next line without its ending; `cut` when it was longer than the limit. */
  line(text: string, cut = false): void {
    this.#count++;
    const kind = this.#kindOf(text);
    if (kind === undefined && this.#continues(text, cut)) return;
    this.flush();
    if (kind === undefined) this.#text({ text, cut }, this.#count);
    else this.#open(kind, { text, cut });
  }

  /** Ends the open block, if any: at the end of the text, or after a silence. */
  flush(): void {
    const block = this.#block;
    if (block === undefined) return;
    this.#block = undefined;
    // Trailing blank lines separate the block from what follows.
    let length = block.lines.length;
    while (length > 1 && isBlank(block.lines[length - 1]!.text)) length--;
    const lines = block.lines.slice(0, length);
    const head = MARKER_LINE.exec(lines[0]!.text)![2]!.trim();
    const data = block.kind.read({ head, body: lines.slice(1).map(({ text }) => text) });
    if (data === undefined) for (const [index, line] of lines.entries()) this.#text(line, block.line + index);
    else {
      const { line, cut, kind } = block;
      this.#onPiece({ kind: 'marker', marker: { name: kind.name, data, line, lines: length, cut } });
    }
    for (const [index, line] of block.lines.slice(length).entries())
      this.#text(line, block.line + length + index);
  }

  #kindOf(text: string): MarkerKind | undefined {
    if (!text.startsWith('[')) return undefined;
    const name = MARKER_LINE.exec(text)?.[1];
    return name === undefined ? undefined : this.#kinds.get(name);
  }

  #open(kind: MarkerKind, { text, cut: lineCut }: Line): void {
    const cut = lineCut || text.length > MAX_BLOCK_CHARS;
    const kept = { text: text.slice(0, MAX_BLOCK_CHARS), cut };
    this.#block = {
      kind,
      line: this.#count,
      lines: [kept],
      chars: kept.text.length,
      cut,
      paragraph: 'before',
    };
    if (kind.reach === 'line' || cut) this.flush();
  }

  /** Adds the line to the open block; false when it does not belong to it. */
  #continues(text: string, cut: boolean): boolean {
    const block = this.#block;
    if (block === undefined) return false;
    if (isBlank(text)) {
      if (block.kind.reach !== 'block-and-paragraph' || block.paragraph === 'after') return false;
      block.paragraph = 'blank';
    } else {
      if (block.kind.takes?.(text) === false) return false;
      if (block.paragraph === 'blank') block.paragraph = 'after';
    }
    // Blank lines also count towards the size.
    block.chars += text.length + 1;
    if (cut || block.chars > MAX_BLOCK_CHARS) {
      block.cut = true;
      return false;
    }
    block.lines.push({ text, cut });
    return true;
  }

  #text({ text, cut }: Line, line: number): void {
    this.#onPiece({ kind: 'text', text, line, cut });
  }
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
