import { closeSync } from 'node:fs';
import type { SpawnRequest } from '../../process/runtime.ts';
import type { EgressEntry, Entrance } from '../egress/entry.ts';
import { enforcedBy } from '../enforced.ts';
import { canGiveUsers, isRunUser, ROOT } from '../identity/run-users.ts';
import { LANDLOCK_ACCESS } from '../launcher/landlock-rules.ts';
import { Launcher, type LaunchSteps, PERL_COMMAND } from '../launcher/launcher.ts';
import type { Observe } from '../observer.ts';
import { countsProcessesByNamespace, processLimits } from '../profile/limits.ts';
import { type Profile, profileOf } from '../profile/profile.ts';
import type {
  Confinement,
  LaunchOptions,
  SandboxBackend,
  SandboxLaunch,
  SandboxRequest,
} from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import { assembleFilter } from '../seccomp/assemble-filter.ts';
import { trustedPath } from '../trusted-program.ts';
import { bubblewrapArguments, type Features, OWN_ENVIRONMENT } from './bubblewrap-arguments.ts';
import { launchFailed } from './bubblewrap-failure.ts';

/**
 * Linux namespaces created by bubblewrap, with a seccomp filter and a launcher inside (ARCHITECTURE.md, "The sandbox").
 */
export const bubblewrap: SandboxBackend = {
  name: 'bubblewrap',
  tier: 1,
  opensHosts: true,
  endsTls: true,
  mountsLayers: true,
  observes: true,

  async probe() {
    const { probeBubblewrap } = await import('./bubblewrap-probe.ts');
    const { seccompFilter } = await import('../seccomp/filter.ts');
    return probeBubblewrap((request, features, options) => {
      const profile = profileOf(request);
      return launchInBubblewrap(
        request,
        { profile, filter: seccompFilter(profile.seccomp), features },
        options,
      );
    });
  },

  async confine(request, { features }, filterOf = assembleFilter): Promise<Confinement> {
    const found = features as unknown as Features;
    const profile = profileOf(request);
    const filter = await filterOf(profile.seccomp);
    const isRoot = canGiveUsers();
    const held = enforcedBy(request, {
      commands: found.landlock > 0 && request.traceTo === undefined,
      processes: isRoot || countsProcessesByNamespace(),
      hidesProcesses: true,
    });
    const entry =
      request.egress === undefined
        ? null
        : await (await import('../egress/entry.ts')).EgressEntry.prepare(request.egress);
    const { traceTo } = request;
    const observe = traceTo === undefined ? undefined : (await import('../observer.ts')).observeTo(traceTo);
    return {
      isolation: { backend: 'bubblewrap', tier: 1, level: request.level, ...held, ...entry?.shown },
      changesUser: isRoot && request.level !== 'privileged',
      takesSecrets: true,
      ...(entry && { env: entry.env }),
      launch: (options) =>
        launchInBubblewrap(request, { profile, filter, features: found, observe }, options, entry),
    };
  },
};

/** Prepares the start of one tool. */
function launchInBubblewrap(
  request: SandboxRequest,
  {
    profile,
    filter,
    features,
    observe = (argv) => argv,
  }: { profile: Profile; filter: Uint8Array; features: Features; observe?: Observe | undefined },
  options: LaunchOptions,
  entry: EgressEntry | null = null,
): SandboxLaunch {
  const asRoot = canGiveUsers();
  const ids = options.user ?? { uid: process.getuid!(), gid: process.getgid!() };
  const executable = features.landlock > 0 ? profile.executable : null;
  const steps: LaunchSteps = {
    argv: request.argv,
    env: withOwnTemp(options.env),
    cwd: request.cwd ?? request.folders.work,
    user: options.user ?? (canGiveUsers() ? ROOT : null),
    limits: processLimits(request.limits, {
      countsByRun: asRoot ? isRunUser(ids.uid) : countsProcessesByNamespace(),
    }),
    landlock:
      executable === null
        ? null
        : {
            handled: 'execute',
            rules: executable.map((path) => ({ path, access: LANDLOCK_ACCESS.execute })),
          },
    filter,
    stays: 'init',
    secrets: options.user === null ? undefined : options.secrets?.folder,
  };
  const launcher = new Launcher(steps, options, profile.seccomp.architecture);
  const opened: number[] = [];
  let entrance: Entrance | undefined;
  try {
    const tls = entry?.endTls(options);
    const { stdin, stdout, stderr, fds } = launcher.streams;
    const argsFd = 3 + fds.length;
    const { network, limits } = request;
    const tmpMb = limits.tmp_mb;
    const { scratch } = options;
    const names = entry?.layout ?? null;
    const secrets = options.secrets && { ...options.secrets, areGivenAway: options.user !== null };
    const trust = tls?.trustFiles ?? [];
    const order = { profile, features, network, names, trust, asRoot, ids, scratch, tmpMb, secrets };
    const built = bubblewrapArguments(order, argsFd + 1);
    opened.push(...built.fds);
    const args = scratchFile(scratch, built.args.map((word) => `${word}\0`).join(''));
    opened.unshift(args);
    const argv = [
      ...[trustedPath('bwrap'), '--args', String(argsFd), '--', trustedPath('perl'), ...PERL_COMMAND],
    ] as [string, ...string[]];
    const { architecture } = profile.seccomp;
    entrance = entry?.enter(argv, argsFd + opened.length, { asRoot, architecture, tls }, options);
    if (entrance !== undefined) opened.push(entrance.fd);
    const spawn: SpawnRequest = {
      argv: observe(entrance?.argv ?? argv),
      ...(entrance && { hear: entrance.hear }),
      cwd: '/',
      // The run's id and folder let a later supervisor find what a dead one left.
      env: { ...OWN_ENVIRONMENT, RUN_ID: request.runId, WORKSPACE: request.folders.work },
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
      sandboxProcessDepth: 2 + (entrance?.sandboxProcessDepth ?? 0) + (request.traceTo === undefined ? 0 : 1),
      hasEnded: () => launcher.hasEnded(),
      // Bubblewrap exits when the first process of the namespace is gone, and the kernel ends that one last.
      settle: (exit) => ({
        ...launcher.settle(exit, launchFailed),
        isEmpty: exit.signal === null && entrance === undefined && request.traceTo === undefined,
      }),
      release,
      close() {
        release();
        launcher.close();
        entrance?.close();
      },
    };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    launcher.close();
    entrance?.close();
    throw error;
  }
}

/** /tmp belongs to the sandbox; other temporary folders do not exist in it. */
export function withOwnTemp(env: LaunchOptions['env']): Record<string, string> {
  const changed = { ...env };
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) if (name in changed) changed[name] = '/tmp';
  return changed;
}
