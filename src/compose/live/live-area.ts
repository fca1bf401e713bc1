import { writeSync } from 'node:fs';
import { nextTurn } from '../../util/pause.ts';
import { writeAsync } from '../../util/write-async.ts';
import { displayWidth } from '../display-width.ts';
import type { Screen } from '../screen.ts';
import type { LineOutput, Written } from './line-output.ts';
import { RecentLines } from './recent-lines.ts';

const REDRAW_MS = 100;
const DEFAULT_ROWS = 24;

/** The footer below the lines, drawn again each time: at most `rows` lines that fit the screen. */
export type Footer = (screen: Screen, rows: number) => readonly string[];

/**
 * Scrolling lines above a footer that is redrawn in place, at most ten times a second. When lines arrive faster, only
 * the last ones are shown, and a slow or stopped terminal blocks nothing. The cursor is never hidden and no terminal
 * mode outlives a write, so nothing needs to be restored, however the process ends.
 */
export class LiveArea implements LineOutput {
  readonly #fd: number;
  readonly #footer: Footer;
  readonly #leftOut: (count: number) => string;
  readonly #lines = new RecentLines();
  readonly #timer: NodeJS.Timeout;
  readonly #terminal = process.stdout;
  #screen: Screen;
  #widths: number[] = [];
  #shown = '';
  #isAside = false;
  #isClosed = false;
  #writing: Promise<void> | undefined;

  /** `leftOut` formats the line that reports how many lines were dropped. */
  constructor(fd: number, screen: Screen, footer: Footer, leftOut: (count: number) => string) {
    this.#fd = fd;
    this.#screen = screen;
    this.#footer = footer;
    this.#leftOut = leftOut;
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
    this.#terminal.on('resize', this.#resized);
    process.on('SIGTSTP', this.#suspend);
    process.on('exit', this.#leave);
  }

  get screen(): Screen {
    return this.#screen;
  }

  print(text: string, kept?: 'kept'): void {
    this.#lines.push(text, kept);
  }

  async settle(): Promise<Written> {
    // A caller that reads a long log without pause must let this process's timers run in between.
    await nextTurn();
    return this.#isClosed ? 'closed' : 'written';
  }

  async putAside(): Promise<void> {
    await this.#writing;
    this.#isAside = true;
    await this.#write('');
  }

  takeUp(): void {
    this.#isAside = false;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.putAside();
    this.#terminal.off('resize', this.#resized);
    process.off('SIGTSTP', this.#suspend);
    process.off('exit', this.#leave);
  }

  /** Draws one frame, unless the terminal is still busy with the last one. */
  #draw(): void {
    if (this.#isAside || this.#isClosed || this.#writing !== undefined) return;
    const rows = Math.max(1, (this.#terminal.rows || DEFAULT_ROWS) - 1);
    const lines = this.#footer(this.#screen, rows).slice(0, rows);
    const footer = drawFooter(lines);
    if (this.#lines.isEmpty && footer === this.#shown) return;
    void this.#write(footer, lines.map(displayWidth));
  }

  #write(footer: string, widths: number[] = []): Promise<void> {
    const { texts, leftOut } = this.#lines.take();
    if (leftOut > 0) texts.unshift(this.#leftOut(leftOut));
    const above = texts.map((text) => `${text}\n`).join('');
    const frame = `${eraseFooter(this.#widths, this.#screen.width)}${above}${footer}`;
    this.#widths = widths;
    this.#shown = footer;
    if (frame === '' || this.#isClosed) return Promise.resolve();
    this.#writing = writeAsync(this.#fd, Buffer.from(frame)).then(
      (how) => this.#wrote(how),
      // The terminal itself is gone.
      () => this.#wrote('closed'),
    );
    return this.#writing;
  }

  #wrote(how: Written): void {
    this.#writing = undefined;
    this.#isClosed = how === 'closed';
  }

  readonly #resized = () => {
    this.#screen = { ...this.#screen, width: this.#terminal.columns || this.#screen.width };
    this.#shown = '';
    this.#draw();
  };

  /** Ctrl-Z: the shell gets a clean line, and the next frame draws the footer again. */
  readonly #suspend = () => {
    this.#writeNow(eraseFooter(this.#widths, this.#screen.width));
    this.#widths = [];
    this.#shown = '';
    process.kill(process.pid, 'SIGSTOP');
  };

  /** The process ends between frames: the next output must begin on a new line. */
  readonly #leave = () => {
    if (this.#widths.length > 0) this.#writeNow('\n');
  };

  #writeNow(text: string): void {
    try {
      writeSync(this.#fd, text);
    } catch {
      // The terminal is gone, or stopped.
    }
  }
}

/** Erases a footer of lines with these widths. If the screen became narrower, it may have wrapped them. */
export function eraseFooter(widths: readonly number[], screenWidth: number): string {
  if (widths.length === 0) return '';
  const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / screenWidth)), 0);
  return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`;
}

/** Draws a footer at the end of the output; the cursor stays after it. */
export function drawFooter(lines: readonly string[]): string {
  // Terminals disagree on the width of some characters: a line that a terminal considers too long is cut, not wrapped.
  return lines.length === 0 ? '' : `\x1b[?7l${lines.join('\n')}\x1b[?7h`;
}
