/**
 * The extent of a marker: its own line, the lines up to a blank one, or those and one paragraph after the blank line.
 */
export type MarkerReach = 'line' | 'block' | 'block-and-paragraph';

/** The raw content of a marker. */
export interface MarkerContent {
  /** The trimmed text after the closing bracket on its line. */
  head: string;
  /** The following lines, without trailing blank lines. */
  body: readonly string[];
}

/** One kind of marker. To support another kind, pass a list that contains it to the parser. */
export interface MarkerKind {
  /** The text between the brackets: upper-case letters, digits and `_`. */
  name: string;
  reach: MarkerReach;
  /** Whether a line may belong to the block; the first line that may not ends it. Undefined allows any line. */
  takes?: (line: string) => boolean;
  /** Parses the content; undefined when it is malformed, which turns all its lines into text. */
  read(content: MarkerContent): object | undefined;
}

/** A parsed marker. `line` is the number of its first line, from 1; `lines` is its length. */
export interface Marker<Data = object> {
  name: string;
  data: Data;
  line: number;
  lines: number;
  /** The block exceeded the limit, so its rest is text. */
  cut: boolean;
}

/** The parts of a text in order: lines of plain text, and markers. */
export type MarkerPiece =
  | { kind: 'text'; text: string; line: number; cut: boolean }
  | { kind: 'marker'; marker: Marker };

export type FileChange = 'created' | 'modified' | 'deleted';

export type QuestionData = {
  question: string;
  options: { number: number; label: string; description: string }[];
  context: string;
};
export type BlockedData = { reason: string; context: string };
export type FilesData = { files: { path: string; change: FileChange | null }[] };
export type CompleteData = { summary: string; iterations: number | null };
