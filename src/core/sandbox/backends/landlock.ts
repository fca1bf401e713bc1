import { chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { removePath } from '../../../util/walk-tree.ts';
import { enforcedBy } from '../enforced.ts';
import { notEntered } from '../identity/closed-folders.ts';
import { canGiveUsers, isRunUser, ROOT } from '../identity/run-users.ts';
import { LANDLOCK_ACCESS, type LandlockRules } from '../launcher/landlock-rules.ts';
import type { ConfineSteps, ToolStart } from '../launcher/launch-steps.ts';
import { Launcher, PERL_COMMAND, streamsOf } from '../launcher/launcher.ts';
import { processLimits } from '../profile/limits.ts';
import { allowedPaths, type Profile, profileOf } from '../profile/profile.ts';
import type {
  AheadSource,
  Confinement,
  LaunchOptions,
  RunUser,
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
/** The settings of OpenSSL, which may include those of the system. Node and others end when they may not read a file of that name. */
const OPENSSL = ['/etc/ssl/openssl.cnf', '/etc/pki/tls/openssl.cnf', '/etc/crypto-policies'];

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
    const contents = { profile, filter };
    return {
      isolation: { backend: 'landlock', tier: 2, level: request.level, ...held },
      changesUser: isRoot && request.level !== 'privileged',
      launch: (options) => launchUnderLandlock(request, contents, options),
      ahead: aheadFor(request, contents),
    };
  },
};

/** Landlock isolates neither the network nor processes, so only the seccomp filter blocks them. */
export function sharedRules({ seccomp }: Profile): SeccompRules {
  return { ...seccomp, internet: false, isShared: true };
}

/** What decides on the confinement. */
interface Contents {
  profile: Profile;
  filter: Uint8Array;
}

/** Prepares the start of one tool. */
function launchUnderLandlock(
  request: SandboxRequest,
  contents: Contents,
  options: LaunchOptions,
): SandboxLaunch {
  makeTemp(request, options.user);
  const steps = { ...stepsOf(request, contents, options.user), ...startOf(request, options) };
  const launcher = new Launcher(steps, options, contents.profile.seccomp.architecture);
  return launchBy(launcher, request, steps.user);
}

function aheadFor(request: SandboxRequest, contents: Contents): AheadSource {
  return {
    joinsGroups: false,
    prepare(place) {
      makeTemp(request, place.user);
      const steps = { ...stepsOf(request, contents, place.user), pipe: place.orders };
      const { architecture } = contents.profile.seccomp;
      const launcher = new Launcher(steps, streamsOf(place), architecture);
      const forkServer = { perl: trustedPath('perl'), architecture };
      return { ...launcher.waiting(launchBy(launcher, request, steps.user)), forkServer };
    },
    start: (options) => startOf(request, options),
  };
}

function stepsOf(
  { limits }: SandboxRequest,
  { profile, filter }: Contents,
  user: RunUser | null,
): ConfineSteps {
  return {
    user: user ?? (canGiveUsers() ? ROOT : null),
    // Without a user namespace the kernel counts all processes of the user.
    limits: processLimits(limits, { countsByRun: user !== null && isRunUser(user.uid) }),
    landlock: rulesOf(profile),
    filter,
    stays: 'reaper',
  };
}

function startOf(request: SandboxRequest, { env }: LaunchOptions): ToolStart {
  const { argv, cwd, folders } = request;
  return { argv, env: { ...env, TMPDIR: tempOf(request) }, cwd: cwd ?? folders.work };
}

function tempOf({ folders }: SandboxRequest): string {
  return join(folders.work, TEMP_FOLDER);
}

function makeTemp(request: SandboxRequest, user: RunUser | null): void {
  const temp = tempOf(request);
  // An earlier attempt may have replaced it.
  removePath(temp);
  mkdirSync(temp);
  if (user !== null) chownSync(temp, user.uid, user.gid);
}

function launchBy(launcher: Launcher, request: SandboxRequest, user: RunUser | null): SandboxLaunch {
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
    settle(exit) {
      try {
        return launcher.settle(exit, (words) => launchFailed(words, user));
      } catch (error) {
        throw deniedAbove(error, request.argv[0]!, user);
      }
    },
    release: () => launcher.release(),
    close() {
      launcher.close();
      removePath(tempOf(request));
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
      ...rules(['/proc', ...OPENSSL], read),
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

function launchFailed(words: string, user: RunUser | null): AcorError {
  const [, folder] = /^chdir (\/.*): Permission denied$/.exec(words) ?? [];
  const denied = folder === undefined ? undefined : notEntered(`in ${folder}`, folder, user);
  return (
    denied ??
    new AcorError('E_SANDBOX_UNAVAILABLE', `the sandbox could not be entered: ${words}`, {
      hint: 'Check what this machine offers.',
      next: [SEE_HEALTH],
    })
  );
}

/** The error of a program in a folder that the tool's user may not enter; any other error as it is. */
function deniedAbove(error: unknown, program: string, user: RunUser | null): unknown {
  const isDenied =
    error instanceof AcorError && error.code === 'E_SPAWN_FAILED' && error.message.endsWith(': EACCES');
  return (isDenied && notEntered(program, dirname(program), user)) || error;
}
