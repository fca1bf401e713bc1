import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { writeFully } from '../../../util/atomic-write.ts';
import { newSpanId } from '../../../util/ids.ts';
import { removePath } from '../../../util/walk-tree.ts';
import type { Exit } from '../../process/runtime.ts';
import { enforcedBy } from '../enforced.ts';
import { canGiveUsers, isRunUser } from '../identity/run-users.ts';
import { LANDLOCK_ACCESS } from '../launcher/landlock-rules.ts';
import { Launcher } from '../launcher/launcher.ts';
import { countsProcessesByNamespace, processLimits } from '../profile/limits.ts';
import { architecture, profileOf } from '../profile/profile.ts';
import { runtimePaths } from '../profile/programs.ts';
import type {
  Confinement,
  LaunchOptions,
  SandboxBackend,
  SandboxLaunch,
  SandboxRequest,
} from '../sandbox.ts';
import { assembleFilter } from '../seccomp/assemble-filter.ts';
import type { SeccompRules } from '../seccomp/filter.ts';
import { withOwnTemp } from './bubblewrap.ts';
import { type ContainerFeatures, containerArguments, ORDERS_FOLDER } from './container-arguments.ts';
import { type ContainerSettings, Engine } from './engine.ts';

/** An engine takes a moment to end a container. Do not wait longer for one that does not answer. */
const END_TIMEOUT_MS = 20_000;
/** The base system, which comes from the image. */
const OF_THE_IMAGE = /^\/(usr|bin|sbin|lib\w*)(\/|$)/;

/** The first Perl statements in a container: they open the launcher's files and unlink them. */
const ENTRANCE = `
$^F = 255;
open(STATUS, '>>', '${ORDERS_FOLDER}/status') or exit 125;
open(INPUT, '<&', STDIN) or exit 125;
open(STDIN, '<', '${ORDERS_FOLDER}/orders') or exit 125;
unlink '${ORDERS_FOLDER}/status', '${ORDERS_FOLDER}/orders';
exec '/usr/bin/perl', '-';
`;

/**
 * A container of an engine on this machine, with ACOR's own filter and launcher inside. The base system comes from the
 * image.
 */
export function containerBackend(settings: ContainerSettings): SandboxBackend {
  const engine = new Engine(settings);
  return {
    name: 'container',
    tier: 1,
    mountsLayers: true,
    get identity() {
      return JSON.stringify([settings, engine.program?.identity]);
    },
    async probe() {
      const { probeContainer } = await import('./container-probe.ts');
      const { seccompFilter } = await import('../seccomp/filter.ts');
      const filter = seccompFilter(containerRules());
      return probeContainer(settings, (request, features, options) =>
        launchInContainer(request, { settings, features, filter }, options),
      );
    },
    async confine(request, { features }, filterOf = assembleFilter): Promise<Confinement> {
      if (request.level === 'privileged') throw noMachine();
      const filter = await filterOf(containerRules());
      const found = features as unknown as ContainerFeatures;
      const held = enforcedBy(request, {
        commands: found.landlock,
        processes: found.groups,
        hidesProcesses: true,
      });
      // The container's processes are not children of this one, so their usage cannot be summed.
      const enforced = held.enforced.filter((name) => name !== 'resources');
      return {
        isolation: {
          ...{ backend: 'container', tier: 1, level: request.level, image: settings.image, enforced },
          not_enforced: ['resources', ...held.not_enforced],
        },
        changesUser: canGiveUsers(),
        launch: (options) => launchInContainer(request, { settings, features: found, filter }, options),
      };
    },
  };
}

/** A container has no network, and its filter also blocks internet sockets. */
function containerRules(): SeccompRules {
  return { architecture: architecture() ?? 'x64', internet: false, isShared: false, kind: 'full' };
}

/** Prepares the start of one tool. */
function launchInContainer(
  request: SandboxRequest,
  {
    settings,
    features,
    filter,
  }: { settings: ContainerSettings; features: ContainerFeatures; filter: Uint8Array },
  options: LaunchOptions,
): SandboxLaunch {
  const engine = new Engine(settings);
  const program = engine.program?.path;
  if (program === undefined) throw unavailable(`there is no ${engine.name} any more`);
  const { runId, limits, argv } = request;
  const asRoot = options.user !== null;
  const fromImage = runtimePaths(request).filter((path) => OF_THE_IMAGE.test(path));
  const laid = profileOf(request, []);
  const profile = { ...laid, mounts: laid.mounts.filter(({ path }) => !fromImage.includes(path)) };
  const name = `acor-${runId}-${newSpanId()}`;
  const folder = join(options.scratch, name);
  const [orders, empties] = [join(folder, 'orders'), join(folder, 'empties')];
  mkdirSync(orders, { recursive: true, mode: 0o700 });
  mkdirSync(empties);
  let launcher: Launcher | undefined;
  try {
    const execute = { access: LANDLOCK_ACCESS.execute };
    launcher = new Launcher(
      {
        argv,
        env: withOwnTemp(options.env),
        cwd: request.cwd ?? request.folders.work,
        user: options.user,
        limits: processLimits(limits, {
          countsByRun: asRoot
            ? isRunUser(options.user!.uid)
            : features.keepsId && countsProcessesByNamespace(),
        }),
        landlock:
          features.landlock && profile.executable !== null
            ? { handled: 'execute', rules: profile.executable.map((path) => ({ path, ...execute })) }
            : null,
        filter,
        stays: 'init',
        handsOn: true,
      },
      // Inside the container, the launcher gets the three streams, the status file and the input, in this order.
      { ...options, stdout: 'pipe', stderr: 'pipe', groups: [] },
      profile.seccomp.architecture,
      (use, text) => namedFile(join(orders, use), text),
    );
    const words = containerArguments({
      ...{ profile, features, orders, empties, name, runId, asRoot, limits, image: settings.image },
      hasStdin: options.stdin !== undefined,
    });
    const { stdin, stdout, stderr } = options;
    const remove = engine.other(program, ['rm', '--force', name]);
    const started = launcher;
    return {
      spawn: {
        argv: [...engine.run(program), ...words, '-e', ENTRANCE],
        cwd: '/',
        env: engine.env,
        ...(stdin !== undefined && { stdin }),
        stdout,
        stderr,
      },
      sandboxProcessDepth: 1,
      isProxyProcess: true,
      forceKillCommand: [
        ...['/usr/bin/env', '-i', ...Object.entries(engine.env).map(([key, value]) => `${key}=${value}`)],
        ...remove,
      ],
      hasEnded: () => started.hasEnded(),
      settle(exit) {
        // The engine's client may have exited while the container still runs.
        if (!started.hasEnded()) end(remove, engine.env);
        return started.settle(exit, (said) => launchFailed(engine.name, said, exit));
      },
      release: () => started.release(),
      close() {
        started.close();
        removePath(folder);
      },
    };
  } catch (error) {
    launcher?.close();
    removePath(folder);
    throw error;
  }
}

function end([program, ...words]: [string, ...string[]], env: Record<string, string>): void {
  try {
    execFileSync(program, words, { env, stdio: 'ignore', timeout: END_TIMEOUT_MS });
  } catch {
    // The container was never created, or has ended.
  }
}

function namedFile(path: string, text: string): number {
  const { O_RDWR, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    writeFully(fd, Buffer.from(text));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function launchFailed(engine: string, words: string, { rc }: Exit): AcorError {
  const said = words === '' ? `${engine} ended with ${rc}; its words are in the tool's stderr` : words;
  return unavailable(`the container could not be started: ${said}`);
}

function noMachine(): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    'level privileged is impossible in a container, which never grants the whole machine',
    {
      hint: 'Set permissions.level to standard or lower, or remove security.container from the configuration.',
      next: [SEE_HEALTH],
    },
  );
}

function unavailable(message: string): AcorError {
  return new AcorError('E_SANDBOX_UNAVAILABLE', message, {
    hint: 'Check what this machine offers.',
    next: [SEE_HEALTH],
  });
}
