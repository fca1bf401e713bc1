import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode } from '../../../util/error-code.ts';
import type { Exit } from '../../process/runtime.ts';
import { listenTo } from '../../process/runtime-node.ts';
import { canGiveUsers } from '../identity/run-users.ts';
import type { LaunchOptions, SandboxLaunch, SandboxRequest } from '../sandbox.ts';

/** A uid without an account, as every run of a root supervisor gets. */
const NOBODY_IN_PARTICULAR = { uid: 61_184, gid: 61_184 };

/** The outcome of a trial: the program's output, or why it did not start. */
export interface Trial {
  output: string;
  rc: number | null;
  trouble: string | undefined;
}

/** Options and observers of a trial. */
export interface TrialOptions {
  stdin?: number;
  /** Called with the first output of the program. */
  onOutput?(launch: SandboxLaunch): void;
  /** Checks the workspace after the trial. */
  inspect?(work: string): void;
}

/** Prepares the launch of one program in the probed sandbox. */
export type Launch = (
  request: SandboxRequest,
  options: LaunchOptions,
) => SandboxLaunch | Promise<SandboxLaunch>;

/** Starts a program in a sandbox with every layer that a tool would get. */
export async function tryOut(
  launch: Launch,
  argv: SandboxRequest['argv'] = ['/bin/true'],
  { stdin, onOutput, inspect }: TrialOptions = {},
): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'acor-probe-'));
  const work = join(folder, 'work');
  let started: SandboxLaunch | undefined;
  let said = '';
  try {
    // The tool's uid must be able to enter this folder.
    chmodSync(folder, 0o755);
    mkdirSync(work, { mode: 0o755 });
    const user = canGiveUsers() ? NOBODY_IN_PARTICULAR : null;
    if (user !== null) chownSync(work, user.uid, user.gid);
    started = await launch(requestFor(work, argv), {
      env: {},
      ...(stdin !== undefined && { stdin }),
      stdout: 'pipe',
      stderr: 'pipe',
      user,
      scratch: folder,
    });
    const { output, errors, ...exit } = await endOf(started, onOutput);
    said = errors;
    const settled = started.settle(exit);
    inspect?.(work);
    return { output, rc: settled.exit.rc, trouble: undefined };
  } catch (error) {
    if (errorCode(error) === 'EMFILE' || errorCode(error) === 'ENFILE')
      throw new AcorError('E_STORAGE', 'too many open files: cannot try the sandbox', {
        hint: 'Start fewer runs at a time in one process, or raise the limit in the shell that starts it: ulimit -n 4096',
        cause: error,
      });
    if (!(error instanceof AcorError)) throw error;
    return {
      output: '',
      rc: null,
      trouble: [error.message, said.trim()].filter((each) => each !== '').join(': '),
    };
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

function endOf(
  launch: SandboxLaunch,
  onOutput?: TrialOptions['onOutput'],
): Promise<Exit & { output: string; errors: string }> {
  const { argv, cwd, env, stdin, fds = [], hear } = launch.spawn;
  const [program, ...args] = argv;
  const channel = hear === undefined ? [] : ['ipc' as const];
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [stdin ?? 'ignore', 'pipe', 'pipe', ...fds, ...channel],
  });
  if (hear !== undefined) listenTo(child, hear);
  let output = '';
  let errors = '';
  return new Promise((resolve, reject) => {
    // Without a descriptor left for them, a child has no streams, and this event says why.
    child.once('error', reject);
    child.stdout?.once('data', () => onOutput?.(launch));
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    child.once('close', (rc, signal) =>
      resolve({ rc, signal, output, errors, usage: { cpu_s: null, max_rss_bytes: null } }),
    );
  });
}
