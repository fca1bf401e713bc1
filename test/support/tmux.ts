import { execFileSync, spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { shellCommand } from '../../src/util/shell-words.ts';
import { ACOR, dataFolder } from './project.ts';

/** Why tests on a screen cannot run here; false when they can. */
export const noTmux =
  spawnSync('tmux', ['-V'], { stdio: 'ignore' }).status === 0 ? false : 'tmux is not here';

let opened = 0;

/** A person's screen: a shell in a terminal emulator, so that tests can read the drawn screen. */
export class TmuxScreen {
  readonly #socket: string;

  constructor(
    { root }: { root: string },
    { columns, rows = 30, env = {} }: { columns: number; rows?: number; env?: Record<string, string> },
  ) {
    this.#socket = `${root}/tmux-${++opened}`;
    const set = {
      PATH: `${dirname(ACOR)}:${process.env.PATH ?? ''}`,
      HOME: process.env.HOME ?? '/',
      LANG: 'C.UTF-8',
      TERM: 'screen-256color',
      PS1: '$ ',
      USER: 'ann',
      ...dataFolder(root, env),
      ...env,
    };
    const shell = ['env', '-i', ...Object.entries(set).map(([name, value]) => `${name}=${value}`)];
    const words = [...shell, 'bash', '--norc', '--noprofile', '-i'];
    // The limit applies to screens that open later.
    const limit = ['start-server', ';', 'set-option', '-g', 'history-limit', '50000', ';'];
    const size = ['-x', `${columns}`, '-y', `${rows}`];
    this.#tmux(['-f', '/dev/null', ...limit, 'new-session', '-d', ...size, '-c', root, ...words]);
  }

  /** Types a command line and Enter. */
  enter(words: readonly string[] | string): void {
    this.#tmux(['send-keys', '-l', typeof words === 'string' ? words : shellCommand(words)]);
    this.keys('Enter');
  }

  /** Presses keys, by tmux's names for them: `Enter`, `C-c`, `Down`. */
  keys(...names: string[]): void {
    this.#tmux(['send-keys', ...names]);
  }

  resize(columns: number, rows: number): void {
    this.#tmux(['resize-window', '-x', `${columns}`, '-y', `${rows}`]);
  }

  /** The text of the screen; with `history`, also the lines that scrolled away, with wrapped lines joined. */
  text(history?: 'history'): string {
    const range = history ? ['-J', '-S', '-'] : [];
    return this.#tmux(['capture-pane', '-p', ...range]).trimEnd();
  }

  /** The same with its styles, as escape sequences. */
  looks(): string {
    return this.#tmux(['capture-pane', '-p', '-e']);
  }

  get lines(): string[] {
    return this.text().split('\n');
  }

  /** The position of the cursor, and whether it is visible. */
  cursor(): { column: number; row: number; isVisible: boolean } {
    const shown = this.#tmux(['display-message', '-p', '#{cursor_x} #{cursor_y} #{cursor_flag}']);
    const [column, row, flag] = shown.trim().split(' ').map(Number);
    return { column: column!, row: row!, isVisible: flag === 1 };
  }

  /** Waits until a text is on the screen, and returns the whole screen. */
  async shows(pattern: RegExp, history?: 'history'): Promise<string> {
    for (let tries = 0; ; tries++) {
      const text = this.text(history);
      if (pattern.test(text)) return text;
      if (tries > 2000) throw new Error(`it does not show ${pattern}:\n${text}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  [Symbol.dispose](): void {
    this.#tmux(['kill-server']);
  }

  #tmux(args: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
  }
}
