import { execFileSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { unreachable } from '../../../util/unreachable.ts';
import type { SpawnRequest } from '../../process/runtime.ts';
import { enforcedBy } from '../enforced.ts';
import { LANDLOCK_ACCESS } from '../launcher/landlock-rules.ts';
import { Launcher, type LaunchSteps, PERL_COMMAND } from '../launcher/launcher.ts';
import { countsProcessesByNamespace, processLimits } from '../profile/limits.ts';
import { architecture, type Profile, profileOf } from '../profile/profile.ts';
import type {
  Confinement,
  LaunchOptions,
  SandboxBackend,
  SandboxLaunch,
  SandboxProbe,
  SandboxRequest,
} from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import { seccompFilter } from '../seccomp/filter.ts';
import { type Distrust, trustedPath, trustedProgram } from '../trusted-program.ts';
import { type BubblewrapFeatures, bubblewrapArguments } from './bubblewrap-arguments.ts';
import { explain, INSTALL_BUBBLEWRAP, launchFailed } from './bubblewrap-trouble.ts';
import { landlockVersion, noPerl } from './landlock-probe.ts';
import { tryOut } from './try-out.ts';

/** The environment of bubblewrap itself: a tool's own could have other code run in it, outside of the sandbox. */
const OWN_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/** Namespaces of Linux, laid out by bubblewrap, with a filter of system calls and a launcher inside (ARCHITECTURE.md, "The sandbox"). */
export const bubblewrap: SandboxBackend = {
  name: 'bubblewrap',
  tier: 1,

  async probe(): Promise<SandboxProbe> {
    if (process.platform !== 'linux') return { available: false, detail: 'bubblewrap is for Linux' };
    if (architecture() === undefined) {
      return { available: false, detail: `there is no filter of system calls for ${process.arch}` };
    }
    const program = trustedProgram('bwrap');
    if (typeof program === 'string') return distrusted(program);
    const perl = trustedProgram('perl');
    if (typeof perl === 'string') return noPerl();
    const help = execFileSync(program.path, ['--help'], { env: OWN_ENVIRONMENT, encoding: 'utf8' });
    const features: Features = {
      landlock: landlockVersion(perl.path),
      canBindDescriptors: help.includes('--ro-bind-fd'),
      canDisableNamespaces: help.includes('--disable-userns'),
      canMountProc: true,
    };
    const trouble = await troubleOf(features);
    if (trouble === undefined) return works(features);
    const withoutProc = { ...features, canMountProc: false };
    if (/mount proc/.test(trouble) && (await troubleOf(withoutProc)) === undefined) return works(withoutProc);
    const { means, fix } = explain(trouble);
    return { available: false, detail: `${means} (${trouble})`, fix };
  },

  async confine(request, { features }): Promise<Confinement> {
    const found = features as unknown as Features;
    const profile = profileOf(request);
    const isRoot = process.getuid?.() === 0;
    const held = enforcedBy(request, {
      commands: found.landlock > 0,
      processes: isRoot || countsProcessesByNamespace(),
      hidesProcesses: true,
    });
    return {
      isolation: { backend: 'bubblewrap', tier: 1, level: request.level, ...held },
      changesUser: isRoot,
      launch: (options) => launch(request, profile, found, options),
    };
  },
};

/** What `probe` found out about this machine. */
type Features = BubblewrapFeatures & { landlock: number };

function troubleOf(features: Features): Promise<string | undefined> {
  return tryOut((request, options) => launch(request, profileOf(request), features, options));
}

function works(features: Features): SandboxProbe {
  const missing = [
    ...(features.canMountProc ? [] : ['no /proc in the sandbox']),
    ...(features.landlock > 0 ? [] : ['no Landlock in the kernel, so programs are not limited by name']),
    ...(features.canBindDescriptors ? [] : ['grants are mounted by their paths']),
  ];
  const detail = `works${missing.length > 0 ? `; ${missing.join('; ')}` : ''}`;
  return { available: true, detail, features: { ...features } };
}

function distrusted(why: Distrust): SandboxProbe {
  switch (why) {
    case 'missing':
      return { available: false, detail: 'bubblewrap is not installed', fix: INSTALL_BUBBLEWRAP };
    case 'setuid':
      return {
        available: false,
        detail: 'bwrap is set to run as root for everybody, which this sandbox does not use',
        fix: 'chmod u-s "$(command -v bwrap)"',
      };
    case 'writable':
      return {
        available: false,
        detail: 'bwrap could be changed by others than root',
        fix: 'chown root:root "$(command -v bwrap)" && chmod 755 "$(command -v bwrap)"',
      };
    default:
      return unreachable(why);
  }
}

function launch(
  request: SandboxRequest,
  profile: Profile,
  features: Features,
  options: LaunchOptions,
): SandboxLaunch {
  const asRoot = process.getuid?.() === 0;
  const executable = features.landlock > 0 ? profile.executable : null;
  const steps: LaunchSteps = {
    argv: request.argv,
    env: withOwnTemp(options.env),
    cwd: request.folders.work,
    user: options.user,
    limits: processLimits(request.limits, { countsByRun: asRoot || countsProcessesByNamespace() }),
    landlock:
      executable === null
        ? null
        : {
            handled: 'execute',
            rules: executable.map((path) => ({ path, access: LANDLOCK_ACCESS.execute })),
          },
    filter: seccompFilter(profile.seccomp),
    isInit: true,
  };
  const launcher = new Launcher(steps, options, profile.seccomp.architecture);
  const opened: number[] = [];
  try {
    const { stdin, stdout, stderr, fds } = launcher.streams;
    const argsFd = 3 + fds.length;
    const ids = options.user ?? { uid: process.getuid!(), gid: process.getgid!() };
    const { network } = request;
    const { scratch } = options;
    const built = bubblewrapArguments({ profile, features, network, asRoot, ids, scratch }, argsFd + 1);
    opened.push(...built.fds);
    const args = scratchFile(scratch, built.args.map((word) => `${word}\0`).join(''));
    opened.unshift(args);
    const spawn: SpawnRequest = {
      argv: [trustedPath('bwrap'), '--args', String(argsFd), '--', trustedPath('perl'), ...PERL_COMMAND],
      cwd: '/',
      // By the run's id a supervisor that comes later finds what one that died has left.
      env: { ...OWN_ENVIRONMENT, RUN_ID: request.runId },
      stdin,
      stdout,
      stderr,
      fds: [...fds, ...opened],
    };
    const release = () => {
      launcher.release();
      for (const fd of opened.splice(0)) closeSync(fd);
    };
    return {
      spawn,
      keepers: 2,
      hasEnded: () => launcher.hasEnded(),
      settle: (exit) => launcher.settle(exit, launchFailed),
      release,
      close() {
        release();
        launcher.close();
      },
    };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    launcher.close();
    throw error;
  }
}

/** /tmp is the sandbox's own, and any other folder for temporary files is not there. */
function withOwnTemp(env: LaunchOptions['env']): Record<string, string> {
  const changed = { ...env };
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) if (name in changed) changed[name] = '/tmp';
  return changed;
}
