import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { AcorError } from '../../protocol/acor-error.ts';
import { type NextStep, SEE_HEALTH } from '../../protocol/next-steps.ts';
import { errorMessage } from '../../util/error-code.ts';
import { identify, isRunning, type ProcessIdentity } from '../../util/process-table.ts';
import { readLines } from '../../util/streams.ts';
import type { LaunchRequest } from '../ports/run-launcher.ts';
import { forgetCompanion, registerCompanion } from '../process/kill-tree.ts';
import { ownCommand } from './own-command.ts';

/** A line of its input. */
export interface SupervisorRequest {
  /** Names the request in the replies. */
  nr: number;
  request: LaunchRequest;
}

/**
 * Its output, one JSON line each: the started run, or why the run did not start; after the end of a run, that it needs this process no
 * longer.
 */
export type SupervisorReply = { nr: number } & RunReply;

/** What a supervisor says of one request. */
export type RunReply =
  | { run_id: string }
  /** The end of the run is in the store. */
  | { recorded: true }
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
    return (await supervisor.start(request)).runId;
  } finally {
    supervisor.leaveAlone();
  }
}

/** Settings of Bun for a supervisor; other runtimes ignore them. Its heap would grow to twice its size between two collections on a large machine. */
export const RUNTIME_SETTINGS: Readonly<Record<string, string>> = { BUN_JSC_forceRAMSize: '100000000' };

interface Call {
  begun: PromiseWithResolvers<string>;
  recorded: PromiseWithResolvers<void>;
  ended: PromiseWithResolvers<void>;
}

/** A process in a separate session that supervises runs. */
export class Supervisor {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #calls = new Map<number, Call>();
  /** Undefined when it could not be started. */
  readonly #identity: ProcessIdentity | undefined;
  #count = 0;
  #failure: AcorError | undefined;

  /** Starts the process with the variables that it needs. */
  constructor(callerEnv: LaunchRequest['env']) {
    const { argv, env: own } = ownCommand();
    const [program, ...args] = argv;
    const given = Object.fromEntries(
      OWN_VARIABLES.flatMap((name) => (callerEnv[name] === undefined ? [] : [[name, callerEnv[name]]])),
    );
    this.#child = spawn(program, [...args, 'supervise'], {
      cwd: '/',
      env: { ...given, ...own, ...RUNTIME_SETTINGS },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // A process that adopts the orphans of its tools must not take it for one of them.
    const { pid } = this.#child;
    if (pid !== undefined) {
      this.#identity = identify(pid);
      registerCompanion(pid);
      this.#child.once('exit', () => forgetCompanion(pid));
    }
    this.#child.once('error', (error) => this.#fail(error.message));
    this.#child.stdin.on('error', () => {});
    void this.#readReplies();
  }

  /** Whether the process has died, also when no event has reported it yet, or could not be started. */
  get isLost(): boolean {
    return this.#failure !== undefined || this.#identity === undefined || !isRunning(this.#identity);
  }

  /**
   * Makes it supervise a run. Returns the run's id after the start; throws when it did not start. `recorded` resolves when the end of the run is in
   * the store, or the process has died; `ended` settles when the run needs the process no longer, and rejects when the process has died.
   */
  async start(
    request: LaunchRequest,
  ): Promise<{ runId: string; recorded: Promise<void>; ended: Promise<void> }> {
    if (this.#failure !== undefined) throw this.#failure;
    const call: Call = {
      begun: Promise.withResolvers(),
      recorded: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
    // Not every caller waits for it.
    call.ended.promise.catch(() => undefined);
    const nr = this.#count++;
    this.#calls.set(nr, call);
    this.#child.stdin.write(`${JSON.stringify({ nr, request } satisfies SupervisorRequest)}\n`);
    const runId = await call.begun.promise;
    return { runId, recorded: call.recorded.promise, ended: call.ended.promise };
  }

  /** Lets the supervisor continue without this process, to the end of its runs. */
  leaveAlone(): void {
    this.#child.stdin.end();
    this.#child.stdout.destroy();
    this.#child.unref();
  }

  async #readReplies(): Promise<void> {
    try {
      for await (const line of readLines(this.#child.stdout)) this.#take(JSON.parse(line));
      this.#fail('it ended without a word');
    } catch (error) {
      this.#fail(errorMessage(error));
    }
  }

  #take(reply: SupervisorReply): void {
    const call = this.#calls.get(reply.nr);
    if ('run_id' in reply) {
      call?.begun.resolve(reply.run_id);
      return;
    }
    call?.recorded.resolve();
    if ('recorded' in reply) return;
    this.#calls.delete(reply.nr);
    if ('free' in reply) call?.ended.resolve();
    else call?.begun.reject(refused(reply.error));
  }

  #fail(why: string): void {
    this.#failure ??= lost(why);
    for (const { begun, recorded, ended } of this.#calls.values()) {
      begun.reject(this.#failure);
      recorded.resolve();
      ended.reject(this.#failure);
    }
    this.#calls.clear();
  }
}

function refused({
  code,
  message,
  hint,
  details,
  next,
}: Extract<RunReply, { error: object }>['error']): AcorError {
  return new AcorError(code, message, {
    ...(hint && { hint }),
    ...(details && { details }),
    ...(next && { next }),
  });
}

function lost(why: string): AcorError {
  return new AcorError('E_SPAWN_FAILED', `the supervisor of the run could not be started: ${why}`, {
    hint: 'Check what this machine offers.',
    next: [SEE_HEALTH],
  });
}
