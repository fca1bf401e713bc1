import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { AcorError } from '../../protocol/acor-error.ts';
import type { NextStep } from '../../protocol/next-step.ts';
import { SEE_HEALTH } from '../../protocol/next-steps.ts';
import { readLines } from '../../util/read-lines.ts';
import { sdkPaths } from '../registry/sdk-paths.ts';
import type { RunRequest } from '../run/run-request.ts';

/** What a supervisor of its own is told on its standard input; `stdin` is what the caller had on its own. */
export type SupervisorRequest = Omit<RunRequest, 'readStdin' | 'found'> & { stdin?: string };

/** What it says, a line each: the run that has begun, or what kept it from beginning; and, once a run is over, that it can take the next one. */
export type SupervisorReply =
  | { run_id: string }
  | { free: true }
  | {
      error: {
        code: string;
        message: string;
        hint?: string;
        details?: Record<string, unknown>;
        next?: readonly NextStep[];
      };
    };

/** Variables that a supervisor itself needs; what the tool may see of the caller's environment travels in the request. */
const OWN_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME'];

/**
 * Starts a run under a supervisor of its own, in a session of its own, so that it lives on whatever becomes of this
 * process, its terminal and its process group. Returns the id of the run once it has begun; throws what kept it from it.
 */
export async function startSupervisor(request: SupervisorRequest): Promise<string> {
  const supervisor = new Supervisor(request.env);
  try {
    return await supervisor.start(request);
  } finally {
    supervisor.leaveAlone();
  }
}

/** A process that supervises runs, one after the other, in a session of its own. */
export class Supervisor {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #replies: AsyncIterator<string>;
  readonly #failed: Promise<never>;

  /** Starts it with what it needs of an environment. */
  constructor(callerEnv: RunRequest['env']) {
    const [program, ...args] = ownCommand();
    const env = Object.fromEntries(
      OWN_VARIABLES.flatMap((name) => (callerEnv[name] === undefined ? [] : [[name, callerEnv[name]]])),
    );
    this.#child = spawn(program!, [...args, 'supervise'], {
      cwd: '/',
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#failed = new Promise((_, reject) => {
      this.#child.once('error', (error) => reject(lost(error.message)));
    });
    this.#failed.catch(() => undefined);
    this.#child.stdin.on('error', () => {});
    this.#replies = readLines(this.#child.stdout);
  }

  /** Has it supervise a run; returns the id of the run once it has begun, and throws what kept it from it. */
  async start(request: SupervisorRequest): Promise<string> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    const reply = await this.#reply();
    if ('run_id' in reply) return reply.run_id;
    if ('free' in reply) throw lost('it spoke out of turn');
    const { code, message, hint, details, next } = reply.error;
    throw new AcorError(code, message, {
      ...(hint && { hint }),
      ...(details && { details }),
      ...(next && { next }),
    });
  }

  /** Settles when the run is over and it can take the next one; throws when it is lost. */
  async untilFree(): Promise<void> {
    await this.#reply();
  }

  /** It goes on without whoever started it, to the end of its run. */
  leaveAlone(): void {
    this.#child.stdin.end();
    this.#child.stdout.destroy();
    this.#child.unref();
  }

  async #reply(): Promise<SupervisorReply> {
    const { value, done } = await Promise.race([this.#replies.next(), this.#failed]);
    if (done) throw lost('it ended without a word');
    return JSON.parse(value);
  }
}

/**
 * How the program `acor` is started: the compiled one by itself, the sources by the Bun that runs them. Code of the library that runs in
 * Node, or from its bundle, starts the launcher of its package: only the program can supervise.
 */
function ownCommand(): string[] {
  if (import.meta.dirname.startsWith('/$bunfs')) return [process.execPath];
  const { packageRoot: root } = sdkPaths();
  const runsSources = process.versions['bun'] !== undefined && import.meta.filename.endsWith('.ts');
  if (!runsSources) return [join(root, 'acor')];
  const main = join(root, 'src', 'cli', 'main.ts');
  return [
    process.execPath,
    '--no-env-file',
    `--config=${join(root, 'bunfig.toml')}`,
    // Bun takes the paths of a tsconfig.json in the working directory for its own.
    `--tsconfig-override=${join(root, 'tsconfig.json')}`,
    main,
  ];
}

function lost(why: string): AcorError {
  return new AcorError('E_SPAWN_FAILED', `the supervisor of the run could not be started: ${why}`, {
    hint: 'See what this machine offers.',
    next: [SEE_HEALTH],
  });
}
