import { LineReader, MAX_LINE_BYTES } from '../jsonl.ts';
import { MARKER_KINDS } from './kinds.ts';
import type { MarkerKind, MarkerPiece } from './marker.ts';
import { MarkerLines } from './marker-lines.ts';

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
