import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import type { Companion, Exit, HearChild, Runtime, SpawnedProcess, SpawnRequest } from './runtime.ts';

export const nodeRuntime: Runtime = {
  async spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    const [program, ...args] = request.argv;
    const child = spawn(program, args, {
      cwd: request.cwd,
      env: { ...request.env },
      stdio: [
        request.stdin ?? 'ignore',
        request.stdout,
        request.stderr,
        ...(request.fds ?? []),
        ...(request.hear === undefined ? [] : ['ipc' as const]),
      ],
      detached: true,
    });
    if (request.hear !== undefined) listenTo(child, request.hear);
    const exited = exitOf(child);
    // Node throws some reasons, such as E2BIG, and reports others in an event.
    if (child.pid === undefined) await exited;
    return {
      pid: child.pid!,
      exited,
      stdout: child.stdout,
      stderr: child.stderr,
      holdsProcess(holds) {
        for (const each of [child, child.channel])
          if (holds) each?.ref();
          else each?.unref();
      },
    };
  },

  startCompanion(argv, env, cwd): Companion {
    const [program, ...args] = argv;
    const child = spawn(program, args, {
      cwd,
      env: { ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    child.on('error', () => {});
    // Node reports why in an event; without a descriptor left it makes no streams.
    if (child.stdin === undefined) throw Object.assign(new Error(), { code: 'EMFILE' });
    if (child.pid === undefined) throw new Error(`cannot start ${program}`);
    child.stdin.on('error', () => {});
    child.unref();
    return {
      pid: child.pid,
      write(line) {
        child.stdin.write(`${line}\n`);
      },
      close() {
        child.stdin.end();
      },
    };
  },

  makeFifo(path) {
    execFileSync('mkfifo', ['-m', '600', path], { stdio: 'ignore' });
  },

  memoryFile() {
    return undefined;
  },

  growPipe() {},

  adoptOrphans() {
    return false;
  },

  reap() {},

  collectGarbage() {},
};

/** Receives a child's messages on its `ipc` stream. */
export function listenTo(child: ChildProcess, hear: HearChild): void {
  child.on('message', (message, socket) => {
    const answer = hear(message, socket);
    // If the child has ended meanwhile, its exit reports it.
    if (answer !== undefined) child.send(answer, () => {});
  });
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (rc, signal) => resolve({ rc, signal, usage: { cpu_s: null, max_rss_bytes: null } }));
  });
}
