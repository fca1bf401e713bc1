import { writeAsync } from '../../util/write-async.ts';
import type { Screen } from '../screen.ts';
import type { LineOutput, Written } from './line-output.ts';

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
