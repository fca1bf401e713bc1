import { AcorError } from '../../../protocol/acor-error.ts';
import type { Manifest } from '../../../protocol/manifest.ts';
import { PROTOCOL_VERSION } from '../../../protocol/v1/wire.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Approval } from '../../guard/approval-state.ts';
import { RunGuard } from '../../guard/run-guard.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { Registry, ToolEntry } from '../../registry/registry.ts';
import type { RunRequest } from '../run-request.ts';
import type { Workspaces } from '../workspace.ts';

/** A tool, and whether the policy allows this caller to run it. */
export interface CheckedTool {
  tool: ToolEntry;
  guard: RunGuard;
  /** The approval that allows a privileged tool to run. */
  approval: Approval | null;
  /** The policy denies what the manifest requests. It may forbid things in the call as well, which the refusal lists, too. */
  denied: AcorError | undefined;
}

/** Finds the tool of a request. Throws when it is incompatible, not approved, or lacks a required variable. */
export async function checkTool(
  { registry, config, workspaces }: PlanServices,
  request: RunRequest,
): Promise<CheckedTool> {
  const found = request.found ?? (await registry.find(request.tool, request));
  await refuseIncompatible(found.manifest);
  const guard = await RunGuard.open(found, { ...request, config, runsDir: workspaces.root });
  const { tool, approval, denied } = await authorized(guard);
  checkEnvironment(tool, request);
  return { tool, guard, approval, denied };
}

/** The code that compares versions is loaded for a tool that names one. */
async function refuseIncompatible(manifest: Manifest): Promise<void> {
  if (manifest.min_acor_version === undefined && manifest.protocol_version === PROTOCOL_VERSION) return;
  (await import('../../registry/compatibility.ts')).assertCompatible(manifest);
}

async function authorized(guard: RunGuard): Promise<Omit<CheckedTool, 'guard'>> {
  try {
    return { ...(await guard.authorizeTool()), denied: undefined };
  } catch (error) {
    if (guard.layers.length === 0 || !isDenied(error)) throw error;
    return { tool: await guard.withinCeilings(), approval: null, denied: error };
  }
}

export function isDenied(error: unknown): error is AcorError {
  return error instanceof AcorError && error.code === 'E_POLICY_DENIED';
}

function checkEnvironment({ manifest, name }: ToolEntry, { env }: RunRequest): void {
  const missing = manifest.env.require.filter((variable) => env[variable] === undefined);
  if (missing.length === 0) return;
  throw new AcorError('E_ENV_MISSING', `tool '${name}' needs ${missing.join(', ')} in the environment`, {
    hint: `Set it, then run again: export ${missing.map((variable) => `${variable}=…`).join(' ')}`,
    details: { missing },
  });
}

/** The parts of a project that planning a run reads. */
export interface PlanServices {
  store: RunStore;
  config: LoadedConfig;
  registry: Pick<Registry, 'find' | 'errorCodes' | 'languages'>;
  workspaces: Workspaces;
}
