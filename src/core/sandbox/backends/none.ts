import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { BY_THE_RUNNER } from '../enforced.ts';
import { Launcher, PERL_COMMAND } from '../launcher/launcher.ts';
import { processLimits } from '../profile/limits.ts';
import { architecture } from '../profile/profile.ts';
import type { LaunchOptions, SandboxBackend, SandboxLaunch, SandboxRequest } from '../sandbox.ts';
import { trustedProgram } from '../trusted-program.ts';

/**
 * No sandbox. Only the runner's own measures apply: the environment allowlist, a separate session, time limits,
 * resource limits, and the kill of the whole process tree. Files and network are not restricted, and `isolation`
 * reports that.
 */
export const none: SandboxBackend = {
  name: 'none',
  tier: 3,

  async probe() {
    return {
      available: true,
      detail: 'tools run with the rights of this user; files, network and programs are not confined',
    };
  },

  async confine(request) {
    return {
      isolation: {
        backend: 'none',
        tier: 3,
        enforced: [...BY_THE_RUNNER],
        not_enforced: ['filesystem', 'network', 'commands'],
      },
      changesUser: false,
      launch: (options) => launchThroughLauncher(request, options) ?? launchDirectly(request, options),
    };
  },
};

/** Sets only the limits of the process; undefined when there is no launcher for this system. */
function launchThroughLauncher(request: SandboxRequest, options: LaunchOptions): SandboxLaunch | undefined {
  const known = architecture();
  const perl = trustedProgram('perl');
  if (process.platform !== 'linux' || known === undefined || typeof perl === 'string') return undefined;
  const { argv } = request;
  const launcher = new Launcher(
    {
      argv,
      env: options.env,
      cwd: request.cwd ?? request.folders.work,
      user: null,
      // The kernel counts all processes of the user.
      limits: processLimits(request.limits, { countsByRun: false }),
      landlock: null,
      filter: new Uint8Array(),
      stays: null,
      isBare: true,
    },
    options,
    known,
  );
  const { stdin, stdout, stderr, fds } = launcher.streams;
  const env = { PATH: '/usr/bin:/bin', RUN_ID: request.runId, WORKSPACE: request.folders.work };
  return {
    spawn: { argv: [perl.path, ...PERL_COMMAND], cwd: '/', env, stdin, stdout, stderr, fds },
    sandboxProcessDepth: 0,
    hasEnded: () => launcher.hasEnded(),
    settle: (exit) => launcher.settle(exit, spawnRefused),
    release: () => launcher.release(),
    close: () => launcher.close(),
  };
}

function launchDirectly(
  { argv, folders, cwd = folders.work }: SandboxRequest,
  options: LaunchOptions,
): SandboxLaunch {
  const { env, stdin, stdout, stderr } = options;
  return {
    spawn: { argv, cwd, env, stdout, stderr, ...(stdin !== undefined && { stdin }) },
    sandboxProcessDepth: 0,
    hasEnded: () => false,
    settle: (exit) => ({ exit, left: 0 }),
    release() {},
    close() {},
  };
}

function spawnRefused(words: string): AcorError {
  return new AcorError('E_SPAWN_FAILED', `the tool could not be started: ${words}`, {
    hint: 'Check that /usr/bin/perl works, because it sets the limits of a tool: perl -e 1',
    next: [SEE_HEALTH],
  });
}
