import type { Screen } from '../screen.ts';

/** Whether somebody still looks. */
export type Written = 'written' | 'closed';

/** Where a person is told of something that goes on. Its texts are safe and whole lines, without their last newline. */
export interface LineOutput {
  /** The screen as it is at this moment. */
  readonly screen: Screen;
  /** Tells a line, or several, for good. What is not `kept` may be left out where there is too much of it. */
  print(text: string, kept?: 'kept'): void;
  /** Lets what was told out, as far as the reader takes it. */
  settle(): Promise<Written>;
  /** Leaves the screen to somebody else; everything told so far is on it. */
  putAside(): Promise<void>;
  /** Goes on where it was. */
  takeUp(): void;
  /** Tells what is left, and leaves the screen in order. */
  close(): Promise<void>;
}
