import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Experimental_SandboxProcess as SandboxProcess,
  Experimental_SandboxSession as SandboxSession,
} from 'ai';
import { Acor } from '../library.ts';
import { type AcorSandboxOptions, checkCall } from '../operations/library-options.ts';
import type { RunEvent } from '../protocol/index.ts';
import type { RunningTool } from '../running-tool.ts';
import { SandboxFiles } from './sandbox-files.ts';

export type { AcorSandboxOptions };

/**
 * A sandbox for the Vercel AI SDK (`experimental_sandbox`): each command is a run of ACOR, with its sandbox, limits and record. Commands read and
 * write `root`, and start in it. `env` of a command is refused, because a run records its arguments: use secrets of the project.
 * Standard input is not supported.
 */
export function acorSandbox(options: AcorSandboxOptions): SandboxSession {
  checkCall('acorSandbox', {}, options);
  const { root, net = [], cmd = [], timeoutS } = options;
  const acor = new Acor({ cwd: root });
  const files = new SandboxFiles(root);
  const start = (options: CommandOptions, onEvent?: (event: RunEvent) => void) => {
    const { command, workingDirectory = '.', env = {}, abortSignal: signal } = options;
    signal?.throwIfAborted();
    if (Object.keys(env).length > 0)
      throw new Error('acor: env would be part of the record; store a secret of the project');
    const words = ['-c', 'cd -- "$1" && exec bash -c "$2"', 'bash', workingDirectory, command];
    return acor.exec('bash', words, {
      write: ['.'],
      net,
      cmd,
      ...(timeoutS !== undefined && { timeoutS }),
      ...(signal && { signal }),
      ...(onEvent && { onEvent }),
    });
  };
  return {
    description: `Commands run in bash, in a sandbox of ACOR. They may write only ${root}${net.length === 0 ? ', and have no network' : ''}.`,
    ...files.methods,
    async run(options) {
      const { dir, rc, message } = await start(options);
      options.abortSignal?.throwIfAborted();
      const [stdout, stderr] = await Promise.all(['stdout', 'stderr'].map((name) => logOf(dir, name)));
      // A run that was stopped at a limit has no exit code, but a reason.
      return rc === null
        ? {
            exitCode: STOPPED,
            stdout: stdout!,
            stderr: `${stderr}acor: ${message ?? 'the run was stopped'}\n`,
          }
        : { exitCode: rc, stdout: stdout!, stderr: stderr! };
    },
    spawn: spawnWith(start),
  };
}

/** What a shell says of a program that a signal killed. */
const STOPPED = 137;

interface CommandOptions {
  command: string;
  workingDirectory?: string | undefined;
  env?: Record<string, string> | undefined;
  abortSignal?: AbortSignal | undefined;
}

type Start = (options: CommandOptions, onEvent?: (event: RunEvent) => void) => RunningTool;

function spawnWith(start: Start): SandboxSession['spawn'] {
  const spawn = async (
    options: CommandOptions & { stdin?: boolean | undefined },
  ): Promise<SandboxProcess> => {
    if (options.stdin) throw new Error('acor: a command in the sandbox has no writable standard input');
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, ...(options.abortSignal ? [options.abortSignal] : [])]);
    const [stdout, stderr] = [new LineStream(), new LineStream()];
    const run = start({ ...options, abortSignal: signal }, ({ type, msg, line }) => {
      if (type === 'log') stdout.write(msg);
      if (type === 'diagnostic') stderr.write(line);
    });
    const ended = Promise.resolve(run).finally(() => {
      stdout.close();
      stderr.close();
    });
    ended.catch(() => {});
    await run.runId;
    return {
      stdout: stdout.readable,
      stderr: stderr.readable,
      async wait() {
        const { rc } = await ended;
        options.abortSignal?.throwIfAborted();
        return { exitCode: rc ?? STOPPED };
      },
      async kill() {
        stop.abort('killed');
        await ended;
      },
    };
  };
  // With `stdin` it has rejected.
  return spawn as unknown as SandboxSession['spawn'];
}

/** Lines as a stream of bytes. */
class LineStream {
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly readable = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.#controller = undefined;
    },
  });

  write(line: unknown): void {
    this.#controller?.enqueue(new TextEncoder().encode(`${String(line)}\n`));
  }

  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}

function logOf(dir: string, name: string): Promise<string> {
  // A program that wrote nothing has no log.
  return readFile(join(dir, 'logs', `${name}.log`), 'utf8').catch(() => '');
}
