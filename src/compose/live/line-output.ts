import type { Screen } from '../screen.ts';

/** Whether a reader is still there. */
export type Written = 'written' | 'closed';

/** The output of a live view for a person. Its texts are safe and whole lines, without their last newline. */
export interface LineOutput {
  /** The present state of the screen. */
  readonly screen: Screen;
  /** Prints one or more lines permanently. Lines that are not `kept` may be dropped when there are too many. */
  print(text: string, kept?: 'kept'): void;
  /** Flushes printed lines, as far as the reader accepts them. */
  settle(): Promise<Written>;
  /** Releases the screen to another writer; everything printed so far is on it. */
  putAside(): Promise<void>;
  /** Takes the screen back. */
  takeUp(): void;
  /** Prints the remaining lines, and leaves the screen in order. */
  close(): Promise<void>;
}
