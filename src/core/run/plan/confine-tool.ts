import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import { homeFolder } from '../../../util/home-folder.ts';
import { isInside } from '../../../util/real-path.ts';
import { userFolder } from '../../config/find.ts';
import type { RunGuard } from '../../guard/run-guard.ts';
import { librariesOf, workingFolderOf } from '../../registry/command.ts';
import type { MissingPermission } from '../../registry/missing-permission.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { type ChosenBackend, chooseBackend, forgettingWhenBroken } from '../../sandbox/choose.ts';
import { type GroupPlace, usefulGroups } from '../../sandbox/groups/group-places.ts';
import type { Confinement, RunFolders, SandboxBackend, SandboxRequest } from '../../sandbox/sandbox.ts';
import { installCommand } from '../../sandbox/trusted-program.ts';
import type { RunRequest } from '../run-request.ts';
import { mayCallTools, type RunWorkspace } from '../workspace.ts';
import type { PlanServices } from './check-tool.ts';
import { limitEnforcers } from './limit-enforcers.ts';
import { mayAskBeforeStart, ownFolders, type ResolvedCall } from './resolve-call.ts';

/** How a tool is confined, and where its control groups are created. */
export type ToolConfinement = Confinement & {
  argv: [string, ...string[]];
  /** Where the tool starts. */
  cwd: string;
  groups: readonly GroupPlace[];
  /** Whether the sandbox can allow single hosts. */
  opensHosts: boolean;
  /** Programs that the call is known to start, and the tool may not: they are asked for. */
  asked: MissingPermission[];
  /** Set when a stronger sandbox is not available here. */
  fallback: { chosen: ChosenBackend; cacheFolder: string } | null;
};

/** Confines a call in the strongest sandbox of this machine. Throws E_SANDBOX_UNAVAILABLE. */
export async function confineTool(
  services: PlanServices,
  { env, observe }: RunRequest,
  of: {
    runId: string;
    tool: ToolEntry;
    call: ResolvedCall;
    resources: ResourceLimits;
    guard: Pick<RunGuard, 'allows'>;
  },
): Promise<ToolConfinement> {
  const { config, workspaces } = services;
  const { runId, tool, call, resources, guard } = of;
  const { command, args, grants } = call;
  const { level } = tool.manifest.permissions;
  const argv: [string, ...string[]] = [command.argv[0]!, ...command.argv.slice(1), ...args];
  const hidden = ownFolders(services, env);
  const cwd = workingFolderOf(tool, config);
  const request: Omit<SandboxRequest, 'network'> = {
    runId,
    argv,
    level,
    runtime: command.runtime,
    language: tool.language,
    toolDir: tool.dir,
    // A project that holds the home also holds what its user installed there.
    ...(!isInside(homeFolder(env), config.root) && { project: config.root }),
    folders: foldersOf(workspaces.of(runId)),
    ...(cwd !== undefined && { cwd }),
    libraries: librariesOf(tool, config),
    grants,
    // The runs folder of a new project does not exist yet; the runner creates it before the tool starts.
    hidden: hidden.filter((path) => path === workspaces.root || existsSync(path)),
    ...(await commandsOf(tool, workspaces.of(runId))),
    path: env['PATH'] ?? '',
    limits: resources,
    ...(observe && { traceTo: workspaces.of(runId).trace }),
  };
  const asked = mayAskBeforeStart(tool, config, { observe })
    ? await programsToAskFor(request, { env, guard })
    : [];
  const confinement = await confine(services, tool, {
    ...request,
    ...(asked.length > 0 && { asked: [...(request.asked ?? []), ...asked.map(({ name }) => name)] }),
  });
  observe?.({ sandbox: request, argumentGrants: call.argumentGrants });
  return {
    ...confinement,
    argv,
    cwd: cwd ?? workspaces.of(runId).work,
    // A sandbox that cannot refuse a program has nothing to ask.
    asked: confinement.isolation.enforced.includes('commands') ? asked : [],
  };
}

/** What the command line names and the sandbox would refuse, without what a policy refuses in any case. */
async function programsToAskFor(
  request: Omit<SandboxRequest, 'network'>,
  { env, guard }: Pick<RunRequest, 'env'> & { guard: Pick<RunGuard, 'allows'> },
): Promise<MissingPermission[]> {
  const { missingPrograms } = await import('./missing-programs.ts');
  const { missing, beside } = missingPrograms(request, env);
  const asked: MissingPermission[] = [];
  for (const name of missing)
    if (await guard.allows({ command: name })) asked.push({ kind: 'command', name, beside });
  return asked;
}

async function commandsOf(
  { manifest, addsCommands }: ToolEntry,
  workspace: RunWorkspace,
): Promise<Pick<SandboxRequest, 'commands' | 'asked'>> {
  const commands = mayCallTools(manifest)
    ? (await import('./calling-tools.ts')).commandsOfCaller(manifest, workspace)
    : manifest.permissions.commands;
  return addsCommands ? { commands: [], asked: commands } : { commands };
}

async function confine(
  { config: { config }, workspaces }: PlanServices,
  tool: ToolEntry,
  request: Omit<SandboxRequest, 'network'>,
): Promise<Omit<ToolConfinement, 'argv' | 'cwd' | 'asked'>> {
  const chosen = await chooseBackend(config.security, userFolder('XDG_CACHE_HOME', '.cache', process.env));
  const { backend, probe } = chosen;
  if (!backend.mountsLayers && request.grants.some(({ from }) => from !== undefined)) throw noLayers(backend);
  if (request.traceTo !== undefined && !backend.observes) throw notObserved(backend);
  const network = await networkFor(config, tool, backend);
  const confined = await backend.confine({ ...request, ...network }, probe);
  const confinement = forgettingWhenBroken(confined, chosen.forget);
  // The container engine creates the control groups of its containers.
  const groups = backend.name === 'container' ? [] : usefulGroups(backend.tier);
  const limits = limitEnforcers(request.limits, {
    backend: backend.name,
    places: groups,
    features: probe.features,
  });
  const cacheFolder = join(workspaces.root, 'cache');
  const fallback = chosen.skippedBackends.length > 0 ? { chosen, cacheFolder } : null;
  return {
    ...confinement,
    groups,
    opensHosts: backend.opensHosts === true,
    fallback,
    isolation: { ...confinement.isolation, limits },
  };
}

/** The network of a tool. The rules for tools with network access are loaded late, because most tools have none. */
async function networkFor(
  config: PlanServices['config']['config'],
  tool: ToolEntry,
  backend: SandboxBackend,
): Promise<Pick<SandboxRequest, 'network' | 'egress'>> {
  const { level, network } = tool.manifest.permissions;
  const asks = config.security.on_denied === 'ask';
  if (level !== 'privileged' && network.egress_allow.length === 0 && !asks) return { network: 'none' };
  const { networkOf } = await import('./plan-network.ts');
  return networkOf({ config }, tool, backend);
}

function notObserved({ name }: SandboxBackend): AcorError {
  return new AcorError('E_SANDBOX_UNAVAILABLE', `with the sandbox '${name}' a tool cannot be observed`, {
    hint: `Install bubblewrap: ${installCommand('bubblewrap')}.`,
    next: [SEE_HEALTH],
  });
}

function noLayers({ name }: SandboxBackend): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `with the sandbox '${name}' a tool cannot write into a layer`,
    {
      hint: `Install bubblewrap: ${installCommand('bubblewrap')}. Or let the run keep a snapshot, which works everywhere.`,
      next: [SEE_HEALTH],
    },
  );
}

function foldersOf(layout: RunWorkspace): RunFolders {
  return {
    writable: [layout.work, layout.artifacts, layout.toolLogs],
    readable: [layout.toolControl, layout.secrets],
    work: layout.work,
  };
}
