import type { AcorError } from '../../../protocol/acor-error.ts';
import { isAdHoc } from '../../../protocol/names.ts';
import { digestOf } from '../../guard/tool-digest.ts';
import { sdkPaths } from '../../registry/own-files.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import type { RunRequest } from '../run-request.ts';
import type { RunnerServices } from '../services.ts';
import { mayCallTools } from '../workspace.ts';
import { type CheckedTool, checkTool, isDenied } from './check-tool.ts';
import { confineTool } from './confine-tool.ts';
import { fromRequest, preparedAnswers } from './from-request.ts';
import { planLimits } from './limits.ts';
import { resolveCall } from './resolve-call.ts';
import type { ToolPlan } from './tool-plan.ts';

/**
 * Plans the run of a tool, and checks everything that can be checked before it starts: the tool, the call, its limits, its sandbox, the
 * policy, the plugins, in the order in which their errors are most useful to a caller. Starts and writes nothing.
 */
export async function planRun(services: RunnerServices, request: RunRequest): Promise<ToolPlan> {
  const { environment } = services.config.config;
  const requested = fromRequest(services, request);
  const { denied, ...checked } = await checkTool(services, request);
  const { tool } = checked;
  const settled = settle(services, request, requested.runId, checked);
  const { call, limits, sandboxed } = await (denied === undefined ? settled : refuse(settled, denied));
  const plan: ToolPlan = {
    ...requested,
    ...checked,
    ...call,
    ...limits,
    missing: [...call.missing, ...sandboxed.asked],
    name: tool.name,
    ...(tool.hasHeader && isAdHoc(tool.name) && { title: tool.manifest.name }),
    version: tool.manifestPath === null && !tool.hasHeader ? null : tool.manifest.version,
    digest: digestIfReadable(tool),
    sandboxed,
    isolation: sandboxed.isolation,
    idempotent: tool.manifest.idempotent || tool.manifest.effects === 'reads',
    // A tool that waits for its child runs must not keep their slot.
    needsSlot: tool.manifest.role === 'leaf' && !mayCallTools(tool.manifest),
    callsWithSecrets: false,
    answers: preparedAnswers(services.config, request, tool.name),
    answerTimeoutS: environment.answer_timeout_s,
    replays: request.replays?.runId ?? null,
    ...(request.reads && { reads: request.reads }),
    ...(request.input && { input: request.input }),
    callerEnv: request.env,
    baseAllowlist: environment.base_allowlist,
    libraryDir: sdkPaths().sdkBash,
    isRead: request.isRead ?? false,
  };
  return services.plugins === undefined ? plan : services.plugins.beforeRun(plan);
}

/** What the policy decides about: the call, its limits, and the sandbox. */
async function settle(
  services: RunnerServices,
  request: RunRequest,
  runId: string,
  { tool, guard }: Pick<CheckedTool, 'tool' | 'guard'>,
) {
  const call = await resolveCall(services, request, { tool, runId });
  const limits = planLimits(services, tool, request);
  const { resources } = limits;
  const sandboxed = await confineTool(services, request, { runId, tool, call, resources, guard });
  await guard.authorizeRun(
    {
      args: call.shownArgs,
      ...(call.givenArgs && { givenArgs: call.givenArgs }),
      grants: call.argumentGrants,
      staged: call.staged,
      tier: sandboxed.isolation.tier,
      ...(call.secrets && { hide: <T>(shown: T) => call.secrets!.redaction.data(shown) }),
    },
    sandboxed.asked.map(({ name }) => name),
  );
  return { call, limits, sandboxed };
}

/** The manifest is denied: the refusal of the whole call lists more, where the call can be settled. */
async function refuse(settled: Promise<unknown>, denied: AcorError): Promise<never> {
  try {
    await settled;
  } catch (error) {
    if (isDenied(error)) throw error;
  }
  throw denied;
}

/** Null for a tool whose program may be run but not read. */
function digestIfReadable(tool: ToolEntry): string | null {
  try {
    return digestOf(tool).digest;
  } catch {
    return null;
  }
}
