/**
 * What ACOR puts into one file of an agent: the whole file, a block of lines, or a value. Everything beside it is somebody else's.
 */
export interface Part {
  /** Names it within its file, and in the record. */
  key: string;
  /** What it should be. */
  wanted: string;
  /** What it is now, in the same spelling; null where the file has none, undefined where the file cannot be read. */
  found(text: string): string | null | undefined;
  /** The text with the part as it should be; undefined where there is no place for it. */
  put(text: string): string | undefined;
  /** What a person puts in where ACOR cannot. */
  byHand: string;
}
