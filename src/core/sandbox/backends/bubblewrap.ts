import { closeSync } from 'node:fs';
import type { SpawnRequest } from '../../process/runtime.ts';
import type { EgressEntry, Entrance } from '../egress/entry.ts';
import { enforcedBy } from '../enforced.ts';
import { canGiveUsers, isRunUser, ROOT } from '../identity/run-users.ts';
import { LANDLOCK_ACCESS } from '../launcher/landlock-rules.ts';
import type { ConfineSteps, LaunchSteps, ToolStart } from '../launcher/launch-steps.ts';
import { Launcher, PERL_COMMAND, streamsOf } from '../launcher/launcher.ts';
import type { Observe } from '../observer.ts';
import { countsProcessesByNamespace, processLimits } from '../profile/limits.ts';
import { type Profile, profileOf } from '../profile/profile.ts';
import type {
  AheadSource,
  Confinement,
  LaunchOptions,
  RunUser,
  SandboxBackend,
  SandboxLaunch,
  SandboxRequest,
  StandbyPlace,
  StandbySandbox,
  StandbySource,
} from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import { assembleFilter } from '../seccomp/assemble-filter.ts';
import { trustedPath } from '../trusted-program.ts';
import {
  type BubblewrapOrder,
  bubblewrapArguments,
  type Features,
  OWN_ENVIRONMENT,
} from './bubblewrap-arguments.ts';
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
    const contents = { profile, filter, features: found, observe };
    const isOfPlan =
      entry === null &&
      traceTo === undefined &&
      request.network !== 'listed' &&
      request.grants.every(({ from }) => from === undefined);
    return {
      isolation: { backend: 'bubblewrap', tier: 1, level: request.level, ...held, ...entry?.shown },
      changesUser: isRoot && request.level !== 'privileged',
      takesSecrets: true,
      ...(entry && { env: entry.env }),
      launch: (options) => launchInBubblewrap(request, contents, options, entry),
      ...(isOfPlan && {
        standby: () => standbyFor(request, contents),
        ahead: aheadFor(request, contents),
      }),
    };
  },
};

function aheadFor(request: SandboxRequest, contents: Contents): AheadSource {
  return {
    joinsGroups: false,
    prepare: (place) => waitInBubblewrap(request, contents, { ...place, warm: undefined }),
    start: (options) => startOf(request, options),
  };
}

/** Loaded late: only a process that stays needs it. */
async function standbyFor(request: SandboxRequest, contents: Contents): Promise<StandbySource | undefined> {
  const { canWait, keyOf, placeIn, profileForStandby, STANDBY_NAME } = await import('./standby-profile.ts');
  const { profile } = contents;
  if (!canWait(request, profile)) return undefined;
  return {
    key: (warm) => JSON.stringify([keyOf(request, contents), warm]),
    prepare: (place) => {
      const shown = { ...contents, profile: profileForStandby(request, profile, place.folder) };
      return waitInBubblewrap(request, shown, place, STANDBY_NAME);
    },
    placeIn,
    start: (options) => startOf(request, options),
  };
}

/** What decides on the inside of a sandbox. */
interface Contents {
  profile: Profile;
  filter: Uint8Array;
  features: Features;
  observe?: Observe | undefined;
}

/** What the launcher does last. */
function stepsOf(request: SandboxRequest, contents: Contents, options: LaunchOptions): LaunchSteps {
  return { ...confineStepsOf(request, contents, options), ...startOf(request, options) };
}

function startOf({ argv, cwd, folders }: SandboxRequest, { env }: LaunchOptions): ToolStart {
  return { argv, env: withOwnTemp(env), cwd: cwd ?? folders.work };
}

function confineStepsOf(
  request: SandboxRequest,
  { profile, filter, features }: Contents,
  options: Pick<LaunchOptions, 'user' | 'secrets'>,
): ConfineSteps {
  const executable = features.landlock > 0 ? profile.executable : null;
  return {
    user: options.user ?? (canGiveUsers() ? ROOT : null),
    limits: processLimits(request.limits, {
      countsByRun: canGiveUsers() ? isRunUser(idsOf(options).uid) : countsProcessesByNamespace(),
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
}

function idsOf({ user }: Pick<LaunchOptions, 'user'>): RunUser {
  return user ?? { uid: process.getuid!(), gid: process.getgid!() };
}

/** Prepares the start of one tool. */
function launchInBubblewrap(
  request: SandboxRequest,
  contents: Contents,
  options: LaunchOptions,
  entry: EgressEntry | null = null,
): SandboxLaunch {
  const { profile, features, observe = (argv) => argv } = contents;
  const asRoot = canGiveUsers();
  const steps = stepsOf(request, contents, options);
  const launcher = new Launcher(steps, options, profile.seccomp.architecture);
  const opened: number[] = [];
  let entrance: Entrance | undefined;
  try {
    const tls = entry?.endTls(options);
    const { network, limits } = request;
    const { scratch } = options;
    const secrets = options.secrets && { ...options.secrets, areGivenAway: options.user !== null };
    const order: BubblewrapOrder = {
      ...{ profile, features, network, asRoot, scratch, secrets },
      ...{ names: entry?.layout ?? null, trust: tls?.trustFiles ?? [] },
      ...{ ids: idsOf(options), tmpMb: limits.tmp_mb },
    };
    const { argv, argsFd } = commandOf(order, launcher, opened);
    const { architecture } = profile.seccomp;
    entrance = entry?.enter(argv, argsFd + opened.length, { asRoot, architecture, tls }, options);
    if (entrance !== undefined) opened.push(entrance.fd);
    const { stdin, stdout, stderr, fds } = launcher.streams;
    const spawn: SpawnRequest = {
      argv: observe(entrance?.argv ?? argv),
      ...(entrance && { hear: entrance.hear }),
      cwd: '/',
      env: environmentFor(request),
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

/** Starts a sandbox that waits for what a run adds: for this run, or for another one for whose folders those below the name `slot` stand. */
function waitInBubblewrap(
  request: SandboxRequest,
  contents: Contents,
  { warm, ...place }: StandbyPlace,
  slot?: string,
): StandbySandbox {
  const { profile, features } = contents;
  const { folder, user } = place;
  const asRoot = canGiveUsers();
  const launcher = new Launcher(
    {
      ...confineStepsOf(request, contents, { user }),
      pipe: place.orders,
      warm: warm && { argv: warm.argv, env: withOwnTemp(warm.env) },
    },
    streamsOf(place),
    profile.seccomp.architecture,
  );
  const opened: number[] = [];
  const release = () => {
    launcher.release();
    for (const fd of opened.splice(0)) closeSync(fd);
  };
  const close = () => {
    release();
    launcher.close();
  };
  try {
    const order: BubblewrapOrder = {
      ...{ profile, features, network: request.network, asRoot },
      ...{ ids: idsOf({ user }), scratch: folder, tmpMb: request.limits.tmp_mb },
      ...{ names: null, trust: [], secrets: undefined },
    };
    const { argv } = commandOf(order, launcher, opened);
    const { stdin, fds } = launcher.streams;
    const spawn: SpawnRequest = {
      ...{ argv, cwd: '/', env: slot === undefined ? environmentFor(request) : OWN_ENVIRONMENT },
      ...{
        stdin,
        stdout: launcher.streams.stdout,
        stderr: launcher.streams.stderr,
        fds: [...fds, ...opened],
      },
    };
    const launch: SandboxLaunch = {
      spawn,
      sandboxProcessDepth: 2,
      hasEnded: () => launcher.hasEnded(),
      settle: (exit) => ({ ...launcher.settle(exit, launchFailed), isEmpty: exit.signal === null }),
      release,
      close,
    };
    return launcher.waiting(launch, slot);
  } catch (error) {
    close();
    throw error;
  }
}

/** With the run's id and folder a later supervisor finds what a dead one left. */
function environmentFor({ runId, folders }: SandboxRequest): Record<string, string> {
  return { ...OWN_ENVIRONMENT, RUN_ID: runId, WORKSPACE: folders.work };
}

/** The command that makes the sandbox, with the launcher inside; its descriptors are added to `opened`. */
function commandOf(
  order: BubblewrapOrder,
  { streams }: Launcher,
  opened: number[],
): { argv: [string, ...string[]]; argsFd: number } {
  const argsFd = 3 + streams.fds.length;
  const built = bubblewrapArguments(order, argsFd + 1);
  opened.push(...built.fds);
  opened.unshift(scratchFile(order.scratch, built.args.map((word) => `${word}\0`).join('')));
  return {
    argv: [trustedPath('bwrap'), '--args', String(argsFd), '--', trustedPath('perl'), ...PERL_COMMAND],
    argsFd,
  };
}

/** /tmp belongs to the sandbox; other temporary folders do not exist in it. */
export function withOwnTemp(env: LaunchOptions['env']): Record<string, string> {
  const changed = { ...env };
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) if (name in changed) changed[name] = '/tmp';
  return changed;
}
