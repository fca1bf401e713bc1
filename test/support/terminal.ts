import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { shellCommand } from '../../src/util/shell-quote.ts';
import { ACOR, type TestProject } from './project.ts';

/** Why tests at a terminal cannot run here; false when they can. */
export const noTerminal =
  spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0
    ? false
    : 'script (bsdutils) is not here';

/** A command that a person has started at a terminal of their own: a real pseudo-terminal, 100 columns by 40 rows. */
export class Terminal {
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  #output = '';
  #waiters = new Set<() => void>();

  /** `redirect` is put behind the command, such as `</dev/null`. */
  constructor(
    project: TestProject,
    args: readonly string[],
    options: { env?: Record<string, string>; redirect?: string } = {},
  ) {
    const command = `stty cols 100 rows 40; exec ${shellCommand([ACOR, ...args])} ${options.redirect ?? ''}`;
    this.child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: project.root,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '/',
        LANG: 'C.UTF-8',
        TERM: 'xterm',
        USER: 'ann',
        ...options.env,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.child.stdin!.on('error', () => {});
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      for (const wake of this.#waiters) wake();
    });
    this.ended = new Promise((resolve) => this.child.once('close', resolve));
  }

  /** Everything that reached the terminal so far, with its escape sequences. */
  get raw(): string {
    return this.#output;
  }

  /** The same as text. */
  get text(): string {
    return this.#output.replaceAll(/\x1b\[[0-?]*[ -/]*[@-~]/g, '').replaceAll('\r', '');
  }

  /** Waits until a text has come, `times` times in all. */
  async shows(text: string, times = 1): Promise<void> {
    while (this.text.split(text).length <= times) {
      await new Promise<void>((resolve, reject) => {
        const wake = () => {
          this.#waiters.delete(wake);
          resolve();
        };
        this.#waiters.add(wake);
        void this.ended.then(() =>
          this.text.split(text).length > times
            ? wake()
            : reject(new Error(`it ended without '${text}':\n${this.text}`)),
        );
      });
    }
  }

  /** Types keys. */
  type(keys: string): void {
    this.child.stdin!.write(keys);
  }
}

export const KEYS = {
  down: '\u001b[B',
  enter: '\r',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  backspace: '\u007f',
} as const;
