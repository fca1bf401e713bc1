import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { AcorError } from '../../protocol/acor-error.ts';
import { type NextStep, SEE_HEALTH } from '../../protocol/next-steps.ts';
import { readLines } from '../../util/streams.ts';
import type { LaunchRequest } from '../ports/run-launcher.ts';
import { forgetCompanion, registerCompanion } from '../process/kill-tree.ts';
import { ownCommand } from './own-command.ts';

/**
 * Its output, one JSON line each: the started run, or why the run did not start; after the end of a run, that it is
 * idle again.
 */
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

/** Variables that a supervisor itself needs. The variables that the tool may see are part of the request. */
export const OWN_VARIABLES = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'XDG_CONFIG_HOME',
  'ACOR_LOG',
];

/**
 * Starts a run under a supervisor in a separate session, so that it survives this process, its terminal and its process
 * group. Returns the run's id after the start; throws when it did not start.
 */
export async function startSupervisor(request: LaunchRequest): Promise<string> {
  const supervisor = new Supervisor(request.env);
  try {
    return await supervisor.start(request);
  } finally {
    supervisor.leaveAlone();
  }
}

/** A process in a separate session that supervises runs, one at a time. */
export class Supervisor {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #replies: AsyncIterator<string>;
  readonly #failed: Promise<never>;

  /** Starts the process with the variables that it needs. */
  constructor(callerEnv: LaunchRequest['env']) {
    const { argv, env: own } = ownCommand();
    const [program, ...args] = argv;
    const given = Object.fromEntries(
      OWN_VARIABLES.flatMap((name) => (callerEnv[name] === undefined ? [] : [[name, callerEnv[name]]])),
    );
    this.#child = spawn(program, [...args, 'supervise'], {
      cwd: '/',
      env: { ...given, ...own },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // A process that adopts the orphans of its tools must not take it for one of them.
    const { pid } = this.#child;
    if (pid !== undefined) {
      registerCompanion(pid);
      this.#child.once('exit', () => forgetCompanion(pid));
    }
    this.#failed = new Promise((_, reject) => {
      this.#child.once('error', (error) => reject(lost(error.message)));
    });
    this.#failed.catch(() => undefined);
    this.#child.stdin.on('error', () => {});
    this.#replies = readLines(this.#child.stdout);
  }

  /** Makes it supervise a run. Returns the run's id after the start; throws when it did not start. */
  async start(request: LaunchRequest): Promise<string> {
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

  /** Resolves when the run has ended and the supervisor is idle; throws when the process died. */
  async untilFree(): Promise<void> {
    await this.#reply();
  }

  /** Lets the supervisor continue without this process, to the end of its run. */
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

function lost(why: string): AcorError {
  return new AcorError('E_SPAWN_FAILED', `the supervisor of the run could not be started: ${why}`, {
    hint: 'Check what this machine offers.',
    next: [SEE_HEALTH],
  });
}
