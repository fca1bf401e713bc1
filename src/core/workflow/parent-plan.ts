import type { ToolEntry } from '../registry/registry.ts';
import { costOfParent } from '../run/plan/cost.ts';
import { fromRequest } from '../run/plan/from-request.ts';
import { withinBudget } from '../run/plan/limits.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import type { RunRequest } from '../run/run-request.ts';
import type { RunnerServices } from '../run/services.ts';
import { launchEnvironment } from '../supervision/launch-environment.ts';

/**
 * The plan of a run that consists of child runs: a workflow or a pipe. Sandbox, retries and queue slots apply to its
 * children, not to itself.
 */
export interface ParentPlan extends RunPlan {
  /** The variables of the caller that the children may use. */
  callerEnv: RunRequest['env'];
  /** Whether to rerun children whose outcome is unknown. */
  isForced: boolean;
}

/** It starts no process itself. */
const NOT_CONFINED = { backend: 'none', tier: 0, enforced: [], not_enforced: [] };

/**
 * Plans what workflows and pipes have in common. A parent is never retried as a whole, because other runs may already
 * use its children's output.
 */
export function planParent(
  services: RunnerServices,
  request: RunRequest,
  of: Pick<RunPlan, 'name' | 'version' | 'digest' | 'answers'> & {
    tools: readonly ToolEntry[];
    givenArgs: string[];
    timeoutS: number;
  },
): ParentPlan {
  const { environment, budget } = services.config.config;
  const limits = {
    timeoutS: of.timeoutS,
    heartbeatGraceS: environment.heartbeat_grace_s,
    stallS: null,
    maxOutputBytes: environment.max_output_size,
    cancelGraceS: environment.cancel_grace_s,
    waitingStopsDeadline: environment.waiting_stops_deadline,
  };
  return {
    ...fromRequest(services, request),
    name: of.name,
    version: of.version,
    digest: of.digest,
    shownArgs: of.givenArgs,
    staged: [],
    givenArgs: of.givenArgs,
    isolation: NOT_CONFINED,
    approval: null,
    secrets: null,
    callsWithSecrets: of.tools.some(({ manifest }) => manifest.secrets.length > 0),
    ...withinBudget(limits, { maxAttempts: 1, backoffS: 0, maxBackoffS: 0 }, budget),
    idempotent: true,
    budget: { maxRuns: null },
    cost: costOfParent(services.config.config, of.tools, request),
    needsSlot: false,
    rate: null,
    answers: of.answers,
    answerTimeoutS: environment.answer_timeout_s,
    replays: null,
    callerEnv: launchEnvironment(services.config, of.tools, request.env),
    isForced: request.again?.force ?? false,
  };
}
