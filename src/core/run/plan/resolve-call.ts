import { join } from 'node:path';
import { userFolders } from '../../config/find.ts';
import {
  type Grant,
  grantRoots,
  type ResolvedArguments,
  resolveArguments,
  type StagedOutput,
} from '../../registry/arguments.ts';
import { checkJsonInputs } from '../../registry/check-json-inputs.ts';
import { commandOf, type ToolCommand } from '../../registry/command.ts';
import { declaredGrants } from '../../registry/declared-grants.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import type { RunRequest } from '../run-request.ts';
import type { RunSecrets } from '../secrets/run-secrets.ts';
import type { PlanServices } from './plan-services.ts';

/** How the tool is called: its program, its arguments, and what they let it reach. */
export interface ResolvedCall {
  command: ToolCommand;
  /** The tool's arguments. */
  args: string[];
  /** The arguments as they are shown: secrets are masked. */
  shownArgs: string[];
  /** The arguments as the caller gave them, to be given again; null when a secret is among them. */
  givenArgs: string[] | null;
  /** The paths that the arguments and the manifest name. */
  grants: Grant[];
  /** Those that the arguments name: the policy of a run decides about these, the policy of its tool about the others. */
  argumentGrants: Grant[];
  staged: StagedOutput[];
  /** What only the tool may learn; null when there is nothing. */
  secrets: RunSecrets | null;
}

/** Resolves the arguments of a request to what the tool is started with. Throws E_USAGE, E_PERMISSION, E_ENV_MISSING and the like. */
export async function resolveCall(
  services: PlanServices,
  request: RunRequest,
  { tool, runId }: { tool: ToolEntry; runId: string },
): Promise<ResolvedCall> {
  const { config, registry, workspaces } = services;
  const hidden = ownFolders(services, request.env);
  const resolved = resolveArguments(tool, request.args, {
    cwd: request.cwd,
    roots: grantRoots(config, request.cwd),
    protectedRoots: [...hidden, tool.dir],
    stagingDir: workspaces.of(runId).staging,
    ...(request.replays && { stayingOutputs: request.replays.outputs }),
    ...(request.readStdin && { readStdin: request.readStdin }),
  });
  await checkJsonInputs(tool, resolved.values);
  const secrets = await readSecrets(services, tool, resolved, request);
  const command = await commandOf(tool, config, request.env, await registry.languages());
  const declared = declaredGrants(tool, { projectRoot: config.root, hidden });
  return {
    command,
    args: resolved.args,
    shownArgs: shownArguments(resolved, secrets),
    givenArgs: hasSecretAmong(request.args, resolved, secrets) ? null : request.args,
    grants: [...resolved.grants, ...declared],
    argumentGrants: resolved.grants,
    staged: resolved.staged,
    secrets,
  };
}

/** ACOR's own folders, which no tool is granted. */
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

/** A stored secret may also have been given as an argument. */
function hasSecretAmong(
  given: string[],
  { secretArgs }: ResolvedArguments,
  secrets: RunSecrets | null,
): boolean {
  return secretArgs.length > 0 || (secrets !== null && secrets.redaction.data(given) !== given);
}
