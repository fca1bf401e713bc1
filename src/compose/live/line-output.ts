import { writeAsync } from '../../util/write-async.ts';
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

/** All lines in order, as fast as they are read: for pipes and for terminals that cannot redraw. */
export class PlainLines implements LineOutput {
  readonly screen: Screen;
  readonly #fd: number;
  #pending = '';
  #turn: Promise<unknown> = Promise.resolve();

  constructor(fd: number, screen: Screen) {
    this.#fd = fd;
    this.screen = screen;
  }

  print(text: string): void {
    this.#pending += `${text}\n`;
  }

  async settle(): Promise<Written> {
    // Sequential, so that lines do not mix.
    const turn = this.#turn.then(() => this.#write());
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #write(): Promise<Written> {
    const text = this.#pending;
    this.#pending = '';
    return text === '' ? 'written' : writeAsync(this.#fd, Buffer.from(text));
  }

  async putAside(): Promise<void> {
    await this.settle();
  }

  takeUp(): void {}

  async close(): Promise<void> {
    await this.settle();
  }
}
