import { AcorError } from '../../../protocol/acor-error.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Approval } from '../../guard/approval-state.ts';
import { RunGuard } from '../../guard/run-guard.ts';
import type { RunStore } from '../../ports/run-store.ts';
import { assertCompatible } from '../../registry/compatibility.ts';
import type { Registry, ToolEntry } from '../../registry/registry.ts';
import type { RunRequest } from '../run-request.ts';
import type { Workspaces } from '../workspace.ts';

/** A tool that the policy allows this caller to run. */
export interface CheckedTool {
  tool: ToolEntry;
  guard: RunGuard;
  /** The approval that allows a privileged tool to run. */
  approval: Approval | null;
}

/** Finds the tool of a request. Throws when it is incompatible, denied by the policy, not approved, or lacks a required variable. */
export async function checkTool(
  { registry, config, workspaces }: PlanServices,
  request: RunRequest,
): Promise<CheckedTool> {
  const found = request.found ?? (await registry.find(request.tool, request));
  assertCompatible(found.manifest);
  const guard = await RunGuard.open(found, { ...request, config, runsDir: workspaces.root });
  const { tool, approval } = await guard.authorizeTool();
  checkEnvironment(tool, request);
  return { tool, guard, approval };
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
