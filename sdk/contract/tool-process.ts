import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One line that a tool wrote, parsed. */
export type ToolEvent = Record<string, unknown> & { type: string };

/** How a tool ended, with everything it wrote. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
  events: ToolEvent[];
}

const repository = join(import.meta.dirname, '..', '..');

/** A run's folders and environment as the runner would make them (contract §2), in a folder that is removed after. */
export class RunFolders {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'acor-sdk-')));
  readonly cancelFile = join(this.base, 'CANCEL');
  readonly answers = this.#folder('answers');
  readonly checkpoints = this.#folder('work/.checkpoints');
  readonly secrets = this.#folder('secrets');
  readonly logs = this.#folder('logs');
  readonly workspace = join(this.base, 'work');

  env(more: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
    const { PATH, HOME } = process.env;
    return {
      PATH,
      HOME,
      RUN_ID: 'r-test',
      TRACE_ID: '0af7651916cd43dd8448eb211c80319c',
      SPAN_ID: 'b7ad6b7169203331',
      WORKSPACE: this.workspace,
      DEADLINE_TS: new Date(Date.now() + 600_000).toISOString(),
      CANCEL_FILE: this.cancelFile,
      AI_PROTOCOL_VERSION: '1',
      ANSWERS_DIR: this.answers,
      CHECKPOINT_DIR: this.checkpoints,
      SECRETS_DIR: this.secrets,
      LOG_DIR: this.logs,
      ACOR_ATTEMPT: '1',
      ACOR_LIB: join(repository, 'sdk', 'bash'),
      PYTHONPATH: join(repository, 'sdk', 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
      ...more,
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }

  #folder(name: string): string {
    const path = join(this.base, name);
    mkdirSync(path, { recursive: true });
    return path;
  }
}

/** A real process that writes the protocol on stdout. */
export class ToolProcess {
  readonly events: ToolEvent[] = [];
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #stderr = '';
  #partial = '';
  #over = false;

  constructor(command: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv; stdin?: 'open' }) {
    const [program = '', ...args] = command;
    const stdin = options.stdin === 'open' ? 'pipe' : 'ignore';
    this.#child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: [stdin, 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#take(chunk));
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr += chunk;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', (code, signal) => {
        this.#over = true;
        this.#wake();
        resolve({ code, signal, stderr: this.#stderr, events: this.events });
      });
    });
  }

  /** Waits until the tool has written `count` events of a type; fails when it ends before. */
  async until(type: string, count = 1): Promise<ToolEvent> {
    for (;;) {
      const found = this.events.filter((event) => event.type === type);
      const last = found[count - 1];
      if (last) return last;
      if (this.#over)
        throw new Error(`ended before ${count} × ${type}: ${JSON.stringify(this.events)} ${this.#stderr}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  closeStdin(): void {
    this.#child.stdin?.end();
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  #take(chunk: string): void {
    const lines = (this.#partial + chunk).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.events.push(JSON.parse(line));
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Whether a program can be started here; if not, the reason for which its tests are skipped. */
export function missing(program: string): string | false {
  const found = spawnSync(program, ['--version'], { stdio: 'ignore' });
  return found.status === 0 ? false : `${program} is not installed`;
}
