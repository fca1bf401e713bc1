import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { removePath } from '../../../util/walk-tree.ts';
import { enforcedBy } from '../enforced.ts';
import { canGiveUsers, isRunUser, ROOT } from '../identity/run-users.ts';
import { LANDLOCK_ACCESS, type LandlockRules } from '../launcher/landlock-rules.ts';
import { Launcher, PERL_COMMAND } from '../launcher/launcher.ts';
import { processLimits } from '../profile/limits.ts';
import { allowedPaths, type Profile, profileOf } from '../profile/profile.ts';
import type {
  Confinement,
  LaunchOptions,
  SandboxBackend,
  SandboxLaunch,
  SandboxRequest,
} from '../sandbox.ts';
import { assembleFilter } from '../seccomp/assemble-filter.ts';
import type { SeccompRules } from '../seccomp/filter.ts';
import { installCommand, trustedPath } from '../trusted-program.ts';

/** In the workspace, because the machine's temporary folder is not accessible. */
const TEMP_FOLDER = '.tmp';
/** Device files that programs rely on. */
const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty'];

/**
 * For systems without namespaces: Landlock rules for files, and a seccomp filter. No network at all. The tool can see
 * other processes but not signal or trace them, and sees folders that it cannot enter.
 */
export const landlock: SandboxBackend = {
  name: 'landlock',
  tier: 2,

  async probe() {
    const { probeLandlock } = await import('./landlock-probe.ts');
    const { seccompFilter } = await import('../seccomp/filter.ts');
    return probeLandlock((request, options) => {
      const profile = profileOf(request);
      return launchUnderLandlock(request, { profile, filter: seccompFilter(sharedRules(profile)) }, options);
    });
  },

  async confine(request, _probe, filterOf = assembleFilter): Promise<Confinement> {
    if (request.network !== 'none') throw noNetwork();
    const profile = profileOf(request);
    const filter = await filterOf(sharedRules(profile));
    const isRoot = canGiveUsers();
    const held = enforcedBy(request, { commands: true, processes: isRoot, hidesProcesses: false });
    return {
      isolation: { backend: 'landlock', tier: 2, level: request.level, ...held },
      changesUser: isRoot && request.level !== 'privileged',
      launch: (options) => launchUnderLandlock(request, { profile, filter }, options),
    };
  },
};

/** Landlock isolates neither the network nor processes, so only the seccomp filter blocks them. */
export function sharedRules({ seccomp }: Profile): SeccompRules {
  return { ...seccomp, internet: false, isShared: true };
}

/** Prepares the start of one tool. */
function launchUnderLandlock(
  request: SandboxRequest,
  { profile, filter }: { profile: Profile; filter: Uint8Array },
  options: LaunchOptions,
): SandboxLaunch {
  const temp = join(request.folders.work, TEMP_FOLDER);
  // An earlier attempt may have replaced it.
  removePath(temp);
  mkdirSync(temp);
  if (options.user !== null) chownSync(temp, options.user.uid, options.user.gid);
  const launcher = new Launcher(
    {
      argv: request.argv,
      env: { ...options.env, TMPDIR: temp },
      cwd: request.cwd ?? request.folders.work,
      user: options.user ?? (canGiveUsers() ? ROOT : null),
      // Without a user namespace the kernel counts all processes of the user.
      limits: processLimits(request.limits, {
        countsByRun: options.user !== null && isRunUser(options.user.uid),
      }),
      landlock: rulesOf(profile),
      filter,
      stays: 'reaper',
    },
    options,
    profile.seccomp.architecture,
  );
  const { stdin, stdout, stderr, fds } = launcher.streams;
  return {
    spawn: {
      argv: [trustedPath('perl'), ...PERL_COMMAND],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', RUN_ID: request.runId, WORKSPACE: request.folders.work },
      stdin,
      stdout,
      stderr,
      fds,
    },
    sandboxProcessDepth: 1,
    hasReaper: true,
    hasEnded: () => launcher.hasEnded(),
    settle: (exit) => launcher.settle(exit, launchFailed),
    release: () => launcher.release(),
    close() {
      launcher.close();
      removePath(temp);
    },
  };
}

function rulesOf(profile: Profile): LandlockRules {
  const { read, write, execute } = LANDLOCK_ACCESS;
  const rules = (paths: readonly string[], access: number) => paths.map((path) => ({ path, access }));
  return {
    handled: 'everything',
    rules: [
      ...allowedPaths(profile).map(({ path, access, isGrant }) => ({
        path,
        access: access === 'write' ? read | write : read,
        ...(isGrant && { isGrant }),
      })),
      ...rules(['/proc'], read),
      ...rules(DEVICES, read | write),
      ...rules(profile.executable ?? ['/'], execute),
    ],
  };
}

function noNetwork(): AcorError {
  return new AcorError('E_SANDBOX_UNAVAILABLE', 'without namespaces a tool cannot have a network', {
    hint: `Install bubblewrap: ${installCommand('bubblewrap')}`,
    next: [SEE_HEALTH],
  });
}

function launchFailed(words: string): AcorError {
  const isBlocked = /chdir/.test(words) && canGiveUsers();
  return new AcorError('E_SANDBOX_UNAVAILABLE', `the sandbox could not be entered: ${words}`, {
    hint: isBlocked
      ? 'As root, tools run as an ordinary user, who cannot enter the folders above the project: chmod o+x them, or install bubblewrap.'
      : 'Check what this machine offers.',
    next: [SEE_HEALTH],
  });
}
