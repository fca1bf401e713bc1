import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { shellCommand } from '../../src/util/shell-words.ts';
import { ACOR, dataFolder, HANG_MS } from './project.ts';

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
  #chunks: Buffer[] = [];
  #waiters = new Set<() => void>();

  /** `redirect` is put behind the command, such as `</dev/null`; `command` is another program than `acor`. */
  constructor(
    { root }: { root: string },
    args: readonly string[],
    options: { env?: Record<string, string>; redirect?: string; command?: readonly string[] } = {},
  ) {
    const words = shellCommand(options.command ?? [ACOR, ...args]);
    const command = `stty cols 100 rows 40; exec ${words} ${options.redirect ?? ''}`;
    this.child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: root,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '/',
        LANG: 'C.UTF-8',
        TERM: 'xterm',
        SHELL: '/bin/sh',
        USER: 'ann',
        ...dataFolder(root, options.env),
        ...options.env,
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.child.stdin!.on('error', () => {});
    this.child.stdout!.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      for (const wake of this.#waiters) wake();
    });
    this.ended = new Promise((resolve) => this.child.once('close', resolve));
  }

  /** All bytes that reached the terminal so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** The same as text, with its escape sequences. */
  get raw(): string {
    return this.bytes.toString('utf8');
  }

  /** The same without them. */
  get text(): string {
    return this.raw.replaceAll(/\x1b\[[0-?]*[ -/]*[@-~]/g, '').replaceAll('\r', '');
  }

  /** Waits until a text has come, `times` times in all. */
  async shows(text: string | RegExp, times = 1): Promise<void> {
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

export interface Shown {
  code: number | null;
  /** All bytes that came to the terminal. */
  bytes: Buffer;
  text: string;
}

/**
 * Runs `acor` at such a terminal, which cannot draw, to its end. `typed` is typed once `when` is on the screen; without it
 * the person types nothing and closes the terminal's input.
 */
export async function atTerminal(
  args: readonly string[],
  options: {
    cwd: string;
    env?: Record<string, string>;
    when?: RegExp;
    typed?: string;
    beforeTyping?: () => void;
    /** Another program than `acor`. */
    command?: readonly string[];
  },
): Promise<Shown> {
  const { cwd, env, when, typed = '', beforeTyping, command } = options;
  const terminal = new Terminal({ root: cwd }, args, {
    env: { TERM: 'dumb', ...env },
    ...(command && { command }),
  });
  const timer = setTimeout(() => terminal.child.kill('SIGKILL'), HANG_MS);
  if (when === undefined) terminal.child.stdin!.end();
  else {
    const isShown = await terminal.shows(when).then(
      () => true,
      () => false,
    );
    if (isShown) {
      beforeTyping?.();
      terminal.type(typed);
    }
  }
  const code = await terminal.ended;
  clearTimeout(timer);
  const { bytes, raw } = terminal;
  return { code, bytes, text: raw };
}

export const KEYS = {
  down: '\u001b[B',
  enter: '\r',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  backspace: '\u007f',
} as const;
