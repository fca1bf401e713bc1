import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { canGiveUsers } from '../identity/can-give-users.ts';
import type { LaunchOptions, SandboxLaunch, SandboxRequest } from '../sandbox.ts';

/** Somebody whom no account stands for, as every run of root's gets one. */
const NOBODY_IN_PARTICULAR = { uid: 61_184, gid: 61_184 };

/** Starts a program that does nothing in a sandbox, with every layer that a tool would get. Undefined when it worked; else what was said. */
export async function tryOut(
  launch: (request: SandboxRequest, options: LaunchOptions) => SandboxLaunch,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'acor-probe-'));
  const work = join(folder, 'work');
  let started: SandboxLaunch | undefined;
  try {
    // Whoever the tool is, it has to come this far.
    chmodSync(folder, 0o755);
    mkdirSync(work, { mode: 0o755 });
    const user = canGiveUsers() ? NOBODY_IN_PARTICULAR : null;
    started = launch(requestFor(work), { env: {}, stdout: 'pipe', stderr: 'pipe', user, scratch: folder });
    started.settle(await exitOf(started));
    return undefined;
  } catch (error) {
    if (error instanceof AcorError) return error.message;
    throw error;
  } finally {
    started?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function requestFor(work: string): SandboxRequest {
  return {
    runId: 'probe',
    argv: ['/bin/true'],
    level: 'minimal',
    runtime: '/bin/true',
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

function exitOf({ spawn: { argv, cwd, env, stdin, fds = [] } }: SandboxLaunch) {
  const [program, ...args] = argv;
  const child = spawn(program, args, { cwd, env, stdio: [stdin ?? 'ignore', 'pipe', 'pipe', ...fds] });
  return new Promise<{
    rc: number | null;
    signal: string | null;
    usage: { cpu_s: null; max_rss_bytes: null };
  }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (rc, signal) => resolve({ rc, signal, usage: { cpu_s: null, max_rss_bytes: null } }));
  });
}
