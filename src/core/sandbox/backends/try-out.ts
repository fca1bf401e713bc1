import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Exit } from '../../process/runtime.ts';
import { listenTo } from '../../process/runtime-node.ts';
import { canGiveUsers } from '../identity/can-give-users.ts';
import type { LaunchOptions, SandboxLaunch, SandboxRequest } from '../sandbox.ts';

/** Somebody whom no account stands for, as every run of root's gets one. */
const NOBODY_IN_PARTICULAR = { uid: 61_184, gid: 61_184 };

/** What became of a trial: what the program wrote, or what kept it from being started. */
export interface Trial {
  output: string;
  trouble: string | undefined;
}

/** Starts a program in a sandbox, with every layer that a tool would get. */
export async function tryOut(
  launch: (request: SandboxRequest, options: LaunchOptions) => SandboxLaunch | Promise<SandboxLaunch>,
  argv: SandboxRequest['argv'] = ['/bin/true'],
): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'acor-probe-'));
  const work = join(folder, 'work');
  let started: SandboxLaunch | undefined;
  try {
    // Whoever the tool is, it has to come this far.
    chmodSync(folder, 0o755);
    mkdirSync(work, { mode: 0o755 });
    const user = canGiveUsers() ? NOBODY_IN_PARTICULAR : null;
    started = await launch(requestFor(work, argv), {
      env: {},
      stdout: 'pipe',
      stderr: 'pipe',
      user,
      scratch: folder,
    });
    const { output, ...exit } = await endOf(started);
    started.settle(exit);
    return { output, trouble: undefined };
  } catch (error) {
    if (error instanceof AcorError) return { output: '', trouble: error.message };
    throw error;
  } finally {
    started?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function requestFor(work: string, argv: SandboxRequest['argv']): SandboxRequest {
  return {
    runId: 'probe',
    argv,
    level: 'minimal',
    runtime: argv[0],
    language: 'executable',
    toolDir: work,
    folders: { writable: [work], readable: [], work },
    libraries: [],
    grants: [],
    hidden: [],
    commands: null,
    path: '/usr/bin:/bin',
    network: 'none',
    limits: {},
  };
}

function endOf({
  spawn: { argv, cwd, env, stdin, fds = [], hear },
}: SandboxLaunch): Promise<Exit & { output: string }> {
  const [program, ...args] = argv;
  const channel = hear === undefined ? [] : ['ipc' as const];
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [stdin ?? 'ignore', 'pipe', 'pipe', ...fds, ...channel],
  });
  if (hear !== undefined) listenTo(child, hear);
  let output = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (rc, signal) =>
      resolve({ rc, signal, output, usage: { cpu_s: null, max_rss_bytes: null } }),
    );
  });
}
