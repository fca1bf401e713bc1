import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { BY_THE_RUNNER } from '../enforced.ts';
import { allowedPaths, profileOf } from '../profile/profile.ts';
import type { Confinement, SandboxBackend, SandboxLaunch, SandboxProbe, SandboxRequest } from '../sandbox.ts';
import { loadSeatbelt, probeSeatbelt, type SandboxManager, type SeatbeltConfig } from './seatbelt-package.ts';

/** The paths that every macOS program reads before its main function. */
const SYSTEM = [
  ...['/System', '/bin', '/sbin', '/usr', '/Library/Apple', '/dev'],
  ...['/private/var/db/dyld', '/private/var/db/timezone', '/private/etc/localtime'],
];

/** The package makes this folder accessible to every program that it starts. */
const SHARED = ['/tmp/claude', '/private/tmp/claude'];

const FOR_SHELLS = /^(BASH.*|ENV|SHELLOPTS|PS4|IFS|CDPATH|DYLD_.*|LD_.*)$/;

/** The probe runs a program before a probe result exists. */
const NOT_PROBED: SandboxProbe = { available: true, detail: '' };

/** The hosts that this process allows: the package has one list for all programs that it starts. */
let openHosts: string | undefined;

/**
 * macOS: `sandbox-exec` with a profile that the optional package `@anthropic-ai/sandbox-runtime` generates. The
 * translation of permissions is tested, but the backend has never run on a Mac, and reports that.
 */
export const seatbelt: SandboxBackend = {
  name: 'seatbelt',
  tier: 2,
  opensHosts: true,

  probe() {
    return probeSeatbelt(async (request, options) =>
      (await this.confine(request, NOT_PROBED)).launch(options),
    );
  },

  async confine(request): Promise<Confinement> {
    const manager = loadSeatbelt();
    const argv = await wrap(manager, seatbeltConfig(request), request);
    const isPrivileged = request.level === 'privileged';
    return {
      isolation: {
        ...{ backend: 'seatbelt', tier: 2, level: request.level, unverified: true },
        enforced: [
          ...BY_THE_RUNNER.filter((name) => name !== 'resources'),
          ...[...(isPrivileged ? [] : ['filesystem']), 'network'],
        ],
        not_enforced: [
          ...['resources', ...(isPrivileged ? ['filesystem'] : []), 'commands', 'privileges', 'system_calls'],
          ...['process_limits', 'process_count', 'other_processes'],
        ],
        ...(request.egress && { egress: request.egress.rules.map(({ text }) => text) }),
      },
      changesUser: false,
      launch: ({ env, stdin, stdout, stderr }): SandboxLaunch => ({
        spawn: {
          argv,
          cwd: request.cwd ?? request.folders.work,
          env: { ...harmless(env), PATH: '/usr/bin:/bin' },
          ...(stdin !== undefined && { stdin }),
          stdout,
          stderr,
        },
        sandboxProcessDepth: 0,
        hasEnded: () => false,
        settle: (exit) => ({ exit, left: 0 }),
        release() {},
        close() {},
      }),
    };
  },
};

/**
 * The permissions in the package's terms: only listed paths are readable or writable. ACOR's folders inside a granted
 * folder are excluded by listing their siblings, because denying them would also deny the workspace.
 */
export function seatbeltConfig(request: SandboxRequest): SeatbeltConfig {
  const paths = allowedPaths(profileOf(request, []));
  const writable = paths.filter(({ access }) => access === 'write').map(({ path }) => path);
  const readable = paths.filter(({ access }) => access === 'read').map(({ path }) => path);
  return {
    network: { allowedDomains: request.egress?.rules.map(({ text }) => text) ?? [], deniedDomains: [] },
    filesystem: {
      denyRead: ['/'],
      allowRead: [...SYSTEM, ...readable, ...writable],
      allowWrite: writable,
      denyWrite: SHARED,
    },
  };
}

/** The command that starts a tool: the package takes and returns a shell command line. */
export async function wrap(
  manager: SandboxManager,
  config: SeatbeltConfig,
  { argv, folders, runId, path }: Pick<SandboxRequest, 'argv' | 'folders' | 'runId' | 'path'>,
): Promise<[string, ...string[]]> {
  const hosts = JSON.stringify(config.network.allowedDomains);
  if (openHosts !== undefined && openHosts !== hosts) throw otherHosts();
  openHosts = hosts;
  await manager.initialize(config);
  const { work } = folders;
  const line = `exec ${shellCommand(['/usr/bin/env', `TMPDIR=${work}`, `PATH=${path}`, ...argv])}`;
  const wrapped = await manager.wrapWithSandboxArgv(line, '/bin/bash', config, undefined, work, {
    // An indirection, because every process can read the command line of another.
    commandId: runId,
  });
  const [program, ...words] = wrapped.argv;
  if (program === undefined || !words.some((word) => word.includes('/usr/bin/sandbox-exec')))
    throw notWrapped();
  return [program, ...words];
}

/** Without variables that change the behaviour of the shell, which runs outside of the sandbox. */
export function harmless(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !FOR_SHELLS.test(name)));
}

function otherHosts(): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    'with seatbelt, all tools of one ACOR process share their allowed hosts, and this tool needs different ones',
    { hint: 'Run it in a separate process.', next: [SEE_HEALTH] },
  );
}

function notWrapped(): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    'the package @anthropic-ai/sandbox-runtime did not sandbox the tool',
    {
      hint: 'Install the supported version: 0.0.83',
      next: [SEE_HEALTH],
    },
  );
}
