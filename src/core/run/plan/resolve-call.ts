import { join } from 'node:path';
import { isInside } from '../../../util/real-path.ts';
import { userFolders } from '../../config/find.ts';
import {
  type Grant,
  grantRoots,
  type ResolvedArguments,
  resolveCheckedArguments,
  type StagedOutput,
  untrustedRoots,
} from '../../registry/arguments.ts';
import { commandOf, type ToolCommand } from '../../registry/command.ts';
import type { MissingPermission } from '../../registry/missing-permission.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { declaredGrants } from '../../registry/tool-grants.ts';
import type { RunRequest } from '../run-request.ts';
import type { RunSecrets } from '../secrets/run-secrets.ts';
import type { PlanServices } from './check-tool.ts';

/** How the tool is called: its program, its arguments, and the paths that they grant. */
export interface ResolvedCall {
  command: ToolCommand;
  /** The tool's arguments. */
  args: string[];
  /** The arguments as they are shown: secrets are masked. */
  shownArgs: string[];
  /** The arguments as the caller gave them, for repeating the run; null when one of them is a secret. */
  givenArgs: string[] | null;
  /** The values of its inputs as the tool uses them, secrets included; null for a tool without declared inputs. */
  inputs: Record<string, unknown> | null;
  /** The grants of the arguments and of the manifest. */
  grants: Grant[];
  /** The grants of the arguments only. The policy of the run decides on them; the policy of the tool decides on the others. */
  argumentGrants: Grant[];
  staged: StagedOutput[];
  /** The secrets of the run; null when it has none. */
  secrets: RunSecrets | null;
  /** What the call needs beyond the grants, and a person is asked for. */
  missing: MissingPermission[];
}

/** Resolves the arguments of a request to the tool's command, arguments and grants. Throws E_USAGE, E_PERMISSION, E_ENV_MISSING. */
export async function resolveCall(
  services: PlanServices,
  request: RunRequest,
  { tool, runId }: { tool: ToolEntry; runId: string },
): Promise<ResolvedCall> {
  const { config, registry, workspaces } = services;
  const hidden = ownFolders(services, request.env);
  const given = request.args.slice(tool.ownWords ?? 0);
  const declare = lazily(() => declaredGrants(tool, { projectRoot: config.root, hidden }));
  // Most calls name no path.
  const roots = lazily(() => grantRoots(config, request.cwd));
  const untrusted = lazily(() => untrustedRoots(config, request.cwd));
  const missing: MissingPermission[] = [...(tool.missing ?? [])];
  const resolved = await resolveCheckedArguments(tool, given, {
    cwd: request.cwd,
    readsFiles: request.parent === undefined,
    get roots() {
      return roots();
    },
    get untrustedRoots() {
      return untrusted();
    },
    protectedRoots: [...hidden, tool.dir],
    stagingDir: workspaces.of(runId).staging,
    // A place of which copies are kept is no place to put outputs in at once.
    isDeclared: (path, access) =>
      declare().some(
        (grant) =>
          isInside(path, grant.path) &&
          (access === 'read' || (grant.access === 'write' && grant.mode === undefined)),
      ),
    ...(mayAskBeforeStart(tool, config, request) && { missing }),
    ...(request.replays && { stayingOutputs: request.replays.outputs }),
    ...(request.readStdin && { readStdin: request.readStdin }),
  });
  if (resolved.grants.length > 0) {
    const { checkOwnPaths } = await import('./check-own-paths.ts');
    await checkOwnPaths(services.store, resolved.grants, { own: hidden, runsDir: workspaces.root });
  }
  const secrets = await readSecrets(services, tool, resolved, request);
  const command = await commandOf(tool, config, request.env, await registry.languages());
  const granted = [...resolved.grants, ...declare()];
  return {
    command,
    args: resolved.args,
    inputs: resolved.inputs,
    shownArgs: shownArguments(resolved, secrets),
    givenArgs: hasSecretAmong(given, resolved, secrets) ? null : request.args,
    ...(await keptAs(services, request, { tool, runId, granted, staged: resolved.staged })),
    argumentGrants: resolved.grants,
    secrets,
    missing,
  };
}

/** Whether what a call lacks is asked for before it starts. A tool that is observed may do everything. */
export function mayAskBeforeStart(
  { manifest }: ToolEntry,
  { config }: PlanServices['config'],
  { observe }: { observe?: RunRequest['observe'] | undefined },
): boolean {
  return (
    config.security.on_denied === 'ask' &&
    manifest.permissions.level !== 'privileged' &&
    observe === undefined
  );
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The grants and outputs with the copies that ACOR keeps of them; for most runs there are none. */
async function keptAs(
  { config, workspaces }: PlanServices,
  request: RunRequest,
  of: { tool: ToolEntry; runId: string; granted: Grant[]; staged: StagedOutput[] },
): Promise<Pick<ResolvedCall, 'grants' | 'staged'>> {
  const { tool, runId, granted, staged } = of;
  const least = [config.config.security.writes, request.writes ?? 'in_place'];
  if (least.every((mode) => mode === 'in_place') && granted.every(({ mode }) => mode === undefined))
    return { grants: granted, staged };
  const { keepGrants, keepOutputs } = await import('./keep-grants.ts');
  const { level } = tool.manifest.permissions;
  const { dir } = workspaces.of(runId);
  return {
    grants: keepGrants(granted, { least, level, dir }),
    staged: keepOutputs(staged, least),
  };
}

/** ACOR's own folders. No tool gets a grant for them. */
export function ownFolders({ workspaces, config }: PlanServices, env: RunRequest['env']): string[] {
  return [workspaces.root, join(config.root, '.acor'), ...userFolders(env)];
}

async function readSecrets(
  services: PlanServices,
  tool: ToolEntry,
  resolved: ResolvedArguments,
  request: RunRequest,
): Promise<RunSecrets | null> {
  if (tool.manifest.secrets.length === 0 && resolved.secretInputs.length === 0) return null;
  const { planSecrets } = await import('../secrets/plan-secrets.ts');
  return planSecrets(services, tool, resolved, request);
}

function shownArguments({ args, secretArgs }: ResolvedArguments, secrets: RunSecrets | null): string[] {
  const shown = args.map((arg, index) => (secretArgs.includes(index) ? '[secret]' : arg));
  return secrets === null ? shown : secrets.redaction.data(shown);
}

/** Whether the arguments contain a secret: as the value of a secret input, or a stored secret passed as any argument. */
function hasSecretAmong(
  given: string[],
  { secretArgs }: ResolvedArguments,
  secrets: RunSecrets | null,
): boolean {
  return secretArgs.length > 0 || (secrets !== null && secrets.redaction.data(given) !== given);
}
