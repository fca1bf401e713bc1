import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import { newRunId, newSpanId, newTraceId } from '../../../util/ids.ts';
import { userFolders } from '../../config/find.ts';
import { RunGuard } from '../../guard/run-guard.ts';
import {
  type Grant,
  grantRoots,
  type ResolvedArguments,
  resolveArguments,
  type StagedOutput,
} from '../../registry/arguments.ts';
import { checkJsonInputs } from '../../registry/check-json-inputs.ts';
import { commandOf, sharedLibraryOf, type ToolCommand } from '../../registry/command.ts';
import { assertCompatible } from '../../registry/compatibility.ts';
import { declaredGrants } from '../../registry/declared-grants.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { type SdkPaths, sdkPaths } from '../../registry/sdk-paths.ts';
import { type ChosenBackend, chooseBackend, forgettingWhenBroken } from '../../sandbox/choose.ts';
import { type GroupPlace, usefulGroups } from '../../sandbox/groups/group-places.ts';
import type { Confinement, RunFolders, SandboxBackend, SandboxRequest } from '../../sandbox/sandbox.ts';
import { layoutOf, type RunLayout } from '../../store-files/layout.ts';
import type { PreparedAnswer } from '../answers/questions.ts';
import { heldLimits } from '../attempt/resources/held-limits.ts';
import { settleResources } from '../attempt/resources/resolve-resources.ts';
import type { RunSecrets } from '../secrets/run-secrets.ts';
import type { RunnerServices, RunRequest } from '../services.ts';
import { withinBudget } from './budget.ts';
import type { RetryPlan, RunLimits, RunPlan } from './run-plan.ts';

/** How a tool is confined, and where groups of processes are made for it. */
type Confined = Confinement & {
  groups: readonly GroupPlace[];
  /** Stronger sandboxes could not be had. */
  fallback: { chosen: ChosenBackend; cacheFolder: string } | null;
};

/** What is decided of a tool's run before anything starts. `acor run --dry-run` shows it. */
export interface ToolPlan extends RunPlan {
  tool: ToolEntry;
  guard: RunGuard;
  command: ToolCommand;
  sandboxed: Confined & { argv: [string, ...string[]] };
  /** The tool's arguments. */
  args: string[];
  grants: Grant[];
  staged: StagedOutput[];
  resources: ResourceLimits;
  callerEnv: RunRequest['env'];
  baseAllowlist: readonly string[];
  libraryDir: string;
  /** Whether another run reads its records while it goes on. */
  isRead: boolean;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** Checks everything that can be checked before a run, in the order in which a caller would want to hear of it. Starts and writes nothing. */
export async function planRun(services: RunnerServices, request: RunRequest): Promise<ToolPlan> {
  const found = request.found ?? (await services.registry.find(request.tool));
  assertCompatible(found.manifest);
  const guard = await RunGuard.open(found, {
    ...request,
    config: services.config,
    runsDir: services.store.root,
  });
  const { tool, approval } = await guard.authorizeTool();
  checkEnvironment(tool, request);
  const runId = request.again?.runId ?? newRunId();
  const layout = layoutOf(services.store.root, runId);
  const hidden = ownFolders(services, request.env);
  const resolved = resolveArguments(tool, request.args, {
    cwd: request.cwd,
    roots: grantRoots(services.config, request.cwd),
    protectedRoots: [...hidden, tool.dir],
    stagingDir: layout.staging,
    ...(request.replays && { stayingOutputs: request.replays.outputs }),
    ...(request.readStdin && { readStdin: request.readStdin }),
  });
  await checkJsonInputs(tool, resolved.values);
  const sdk = sdkPaths();
  const secrets = await readSecrets(services, tool, resolved, request);
  const command = await commandOf(tool, services.config, request.env, await services.registry.languages());
  const argv: [string, ...string[]] = [command.argv[0]!, ...command.argv.slice(1), ...resolved.args];
  const { budget } = services.config.config;
  const declared = declaredGrants(tool, { projectRoot: services.config.root, hidden });
  const grants = [...resolved.grants, ...declared];
  const settled = settleResources({
    level: tool.manifest.permissions.level,
    manifest: tool.manifest.resources,
    config: services.config.config.security.resource_limits,
    ceilings: budget.resources,
  });
  const sandboxed = await confine(services, tool, {
    runId,
    argv,
    level: tool.manifest.permissions.level,
    runtime: command.runtime,
    language: tool.language,
    toolDir: tool.dir,
    folders: foldersOf(layout),
    libraries: [...librariesOf(sdk, tool), ...sharedLibraryOf(tool, services.config)],
    grants,
    // The store is there by the time the tool is, also when this is the first run of the project.
    hidden: hidden.filter((path) => path === services.store.root || existsSync(path)),
    commands: tool.manifest.permissions.commands,
    path: request.env['PATH'] ?? '',
    limits: settled.resources,
  });
  const shownArgs = shownArguments(resolved, secrets);
  const { tier } = sandboxed.isolation;
  const hide = secrets === null ? {} : { hide: <T>(told: T) => secrets.redaction.data(told) };
  await guard.authorizeRun({ ...resolved, args: shownArgs, tier, ...hide });
  const within = withinBudget(limitsOf(services, tool, request), retryOf(tool, request), budget);
  const plan: ToolPlan = {
    runId,
    again: request.again?.mode ?? null,
    ...traceOf(request.env),
    name: tool.name,
    version: tool.manifestPath === null ? null : tool.manifest.version,
    tool,
    approval,
    guard,
    command,
    sandboxed: { ...sandboxed, argv },
    isolation: sandboxed.isolation,
    args: resolved.args,
    shownArgs,
    givenArgs: hasSecretAmong(request.args, resolved, secrets) ? null : request.args,
    secrets,
    grants,
    staged: resolved.staged,
    limits: within.limits,
    retry: within.retry,
    lowered: [...within.lowered, ...settled.lowered],
    idempotent: tool.manifest.idempotent || tool.manifest.effects === 'reads',
    budget: { maxRuns: budget.max_runs ?? null },
    needsSlot: tool.manifest.role === 'leaf',
    rate: rateOf(tool),
    resources: settled.resources,
    answers: [...(request.answers ?? []), ...ruledAnswers(services, tool.name)],
    answerTimeoutS: services.config.config.environment.answer_timeout_s,
    onQuestion: request.onQuestion,
    cwd: request.cwd,
    idempotencyKey: request.idempotencyKey ?? null,
    replays: request.replays?.runId ?? null,
    caller: request.caller ?? null,
    parent: request.parent ?? null,
    group: request.group ?? null,
    callerEnv: request.env,
    baseAllowlist: services.config.config.environment.base_allowlist,
    libraryDir: sdk.sdkBash,
    isRead: request.isRead ?? false,
    ...(request.reads && { reads: request.reads }),
  };
  return services.plugins === undefined ? plan : services.plugins.beforeRun(plan);
}

/** What no tool is granted: ACOR's own. */
export function ownFolders({ store, config }: RunnerServices, env: RunRequest['env']): string[] {
  return [store.root, join(config.root, '.acor'), ...userFolders(env)];
}

/** How the tool will be confined. Throws E_SANDBOX_UNAVAILABLE when that cannot be had here. */
async function confine(
  services: RunnerServices,
  tool: ToolEntry,
  request: Omit<SandboxRequest, 'network'>,
): Promise<Confined> {
  const cacheFolder = join(services.store.root, 'cache');
  const chosen = await chooseBackend(services.config.config.security, cacheFolder);
  const { backend, probe } = chosen;
  const network = await networkFor(services, tool, backend);
  const confined = await backend.confine({ ...request, ...network }, probe);
  const confinement = forgettingWhenBroken(confined, chosen.forget);
  // The processes of a container are its engine's to group.
  const groups = backend.name === 'container' ? [] : usefulGroups(backend.tier);
  const limits = heldLimits(request.limits, {
    backend: backend.name,
    places: groups,
    features: probe.features,
  });
  const fallback = chosen.skippedBackends.length > 0 ? { chosen, cacheFolder } : null;
  return { ...confinement, groups, fallback, isolation: { ...confinement.isolation, limits } };
}

/** None for most tools; the hosts that a manifest names, or all of them for a privileged tool. */
async function networkFor(
  { config }: RunnerServices,
  tool: ToolEntry,
  backend: SandboxBackend,
): Promise<Pick<SandboxRequest, 'network' | 'egress'>> {
  const { level, network } = tool.manifest.permissions;
  if (level !== 'privileged' && network.egress_allow.length === 0) return { network: 'none' };
  const { networkOf } = await import('./plan-network.ts');
  return networkOf(config, tool, backend);
}

function foldersOf(layout: RunLayout): RunFolders {
  return {
    writable: [layout.work, layout.artifacts, layout.toolLogs],
    readable: [layout.toolControl, layout.secrets],
    work: layout.work,
  };
}

/**
 * What tools may import without an install: the SDKs, in one folder, because each further mount costs a fifth of a millisecond. What
 * that of TypeScript leads to goes with the tools that can load it.
 */
function librariesOf({ packageRoot }: SdkPaths, { language, manifest }: ToolEntry): string[] {
  const isShellOrPython = language === 'bash' || language === 'python';
  const isAlone = isShellOrPython && manifest.permissions.commands.length === 0;
  const forNode = isAlone ? [] : ['src/tool', 'dist/lib', 'package.json'];
  return ['sdk', ...forNode].map((path) => join(packageRoot, path));
}

function checkEnvironment({ manifest, name }: ToolEntry, { env }: RunRequest): void {
  const missing = manifest.env.require.filter((variable) => env[variable] === undefined);
  if (missing.length === 0) return;
  throw new AcorError('E_ENV_MISSING', `tool '${name}' needs ${missing.join(', ')} in the environment`, {
    hint: `Set it, then run again: export ${missing.map((variable) => `${variable}=…`).join(' ')}`,
    details: { missing },
  });
}

function limitsOf({ config }: RunnerServices, { manifest }: ToolEntry, request: RunRequest): RunLimits {
  const defaults = config.config.environment;
  return {
    timeoutS: request.timeoutS ?? manifest.timeout_s ?? defaults.timeout_s,
    heartbeatGraceS: manifest.heartbeat_grace_s ?? defaults.heartbeat_grace_s,
    stallS: manifest.stall_s ?? defaults.stall_s ?? null,
    maxOutputBytes: manifest.max_output_size ?? defaults.max_output_size,
    cancelGraceS: defaults.cancel_grace_s,
    waitingStopsDeadline: defaults.waiting_stops_deadline,
  };
}

function retryOf({ manifest }: ToolEntry, { retries }: RunRequest): RetryPlan {
  const { max_attempts = 1, backoff_s = 1, max_backoff_s = 30 } = manifest.retry ?? {};
  return {
    maxAttempts: retries === undefined ? max_attempts : retries + 1,
    backoffS: backoff_s,
    maxBackoffS: max_backoff_s,
  };
}

function rateOf({ manifest: { rate_limit } }: ToolEntry): RunPlan['rate'] {
  return rate_limit === undefined ? null : { calls: rate_limit.calls, perS: rate_limit.per_s };
}

/** The trace that a run belongs to: the caller's, where it has one. */
export function traceOf(env: RunRequest['env']): Pick<RunPlan, 'traceId' | 'spanId' | 'parentSpanId'> {
  const [, traceId = newTraceId(), parentSpanId = null] = TRACEPARENT.exec(env.TRACEPARENT ?? '') ?? [];
  return { traceId, spanId: newSpanId(), parentSpanId };
}

/** The answers that the configuration gives to the questions of a tool or a workflow. */
export function ruledAnswers({ config }: RunnerServices, name: string): PreparedAnswer[] {
  return config.config.answers
    .filter(({ tool }) => tool === undefined || tool === name)
    .map(({ action, answer, reason }) => ({
      action,
      answer,
      by: 'configuration',
      source: 'policy' as const,
      ...(reason !== undefined && { reason }),
    }));
}

async function readSecrets(
  services: RunnerServices,
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

/** Also a stored secret may have been given as an argument. */
function hasSecretAmong(
  given: string[],
  { secretArgs }: ResolvedArguments,
  secrets: RunSecrets | null,
): boolean {
  return secretArgs.length > 0 || (secrets !== null && secrets.redaction.data(given) !== given);
}
