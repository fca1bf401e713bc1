/** How far a marker reaches: its own line, the lines up to a blank one, or those and one paragraph after the blank line. */
export type MarkerReach = 'line' | 'block' | 'block-and-paragraph';

/** The raw content of a marker, before it is read. */
export interface MarkerContent {
  /** What follows the closing bracket on its line, without the space around it. */
  head: string;
  /** The lines after it, without the blank lines at their end. */
  body: readonly string[];
}

/** One kind of marker. To know a further one, hand the parser a list with it. */
export interface MarkerKind {
  /** Upper-case letters, digits and `_`: what stands between the brackets. */
  name: string;
  reach: MarkerReach;
  /** Whether a line may belong to the block; left out, any line may. The first one that may not ends it. */
  takes?: (line: string) => boolean;
  /** What the content means; undefined when it is malformed, which makes plain text of all its lines. */
  read(content: MarkerContent): object | undefined;
}

/** A marker that was found. `line` is the number of its first line, from 1; `lines` how many it takes up. */
export interface Marker<Data = object> {
  name: string;
  data: Data;
  line: number;
  lines: number;
  /** The block was longer than the limit: its rest is text. */
  cut: boolean;
}

/** What a text is made of, in its order: lines of plain text, and markers. */
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
