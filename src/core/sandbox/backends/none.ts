import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { BY_THE_RUNNER } from '../enforced.ts';
import type { ConfineSteps, ToolStart } from '../launcher/launch-steps.ts';
import { Launcher, PERL_COMMAND, streamsOf } from '../launcher/launcher.ts';
import { processLimits } from '../profile/limits.ts';
import { architecture } from '../profile/profile.ts';
import type {
  AheadSource,
  Confinement,
  LaunchOptions,
  SandboxBackend,
  SandboxLaunch,
  SandboxRequest,
} from '../sandbox.ts';
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
      ...throughLauncher(request),
    };
  },
};

/**
 * The launcher starts the tool and sets the limits of its process. Without a launcher (no Perl, not Linux, or an unknown processor) the
 * supervisor starts the tool itself, without these limits.
 */
function throughLauncher(request: SandboxRequest): { launch: Confinement['launch']; ahead?: AheadSource } {
  const known = architecture();
  const perl = trustedProgram('perl');
  if (process.platform !== 'linux' || known === undefined || typeof perl === 'string')
    return { launch: (options) => launchDirectly(request, options) };
  const steps: ConfineSteps = {
    user: null,
    // The kernel counts all processes of the user.
    limits: processLimits(request.limits, { countsByRun: false }),
    landlock: null,
    filter: new Uint8Array(),
    stays: null,
    isBare: true,
  };
  const { argv, cwd = request.folders.work } = request;
  const startOf = ({ env }: LaunchOptions): ToolStart => ({ argv, env, cwd });
  return {
    launch: (options) =>
      launchBy(new Launcher({ ...steps, ...startOf(options) }, options, known), request, perl.path),
    ahead: {
      joinsGroups: true,
      prepare(place) {
        const launcher = new Launcher({ ...steps, pipe: place.orders }, streamsOf(place), known);
        const forkServer = { perl: perl.path, architecture: known };
        return { ...launcher.waiting(launchBy(launcher, request, perl.path)), forkServer };
      },
      start: (options) => ({ ...startOf(options), groups: groupFilesOf(options) }),
    },
  };
}

/** The files by which another process of this user can open the descriptors. */
function groupFilesOf({ groups = [] }: LaunchOptions): string[] {
  return groups.map((fd) => `/proc/${process.pid}/fd/${fd}`);
}

function launchBy(launcher: Launcher, { runId, folders }: SandboxRequest, perl: string): SandboxLaunch {
  const { stdin, stdout, stderr, fds } = launcher.streams;
  const env = { PATH: '/usr/bin:/bin', RUN_ID: runId, WORKSPACE: folders.work };
  return {
    spawn: { argv: [perl, ...PERL_COMMAND], cwd: '/', env, stdin, stdout, stderr, fds },
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
