import { newRunId } from '../../util/ids.ts';
import { withinBudget } from '../run/plan/budget.ts';
import { traceOf } from '../run/plan/plan.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import type { RunnerServices, RunRequest } from '../run/services.ts';

/** What is decided of a run that is made of runs, a workflow or a pipe: these are confined, tried again and counted, it is not. */
export interface ParentPlan extends RunPlan {
  callerEnv: RunRequest['env'];
  /** Also children of which nobody can say what they had done are run again. */
  isForced: boolean;
}

/** It runs nothing of its own. */
const NOT_CONFINED = { backend: 'none', tier: 0, enforced: [], not_enforced: [] };

/** Plans what every run has that is made of runs. It is never tried again as a whole: what was done is with somebody else by then. */
export function planParent(
  services: RunnerServices,
  request: RunRequest,
  of: Pick<RunPlan, 'name' | 'version' | 'answers'> & { givenArgs: string[]; timeoutS: number },
): ParentPlan {
  const { again, cwd, env } = request;
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
    runId: again?.runId ?? newRunId(),
    again: again?.mode ?? null,
    ...traceOf(env),
    name: of.name,
    version: of.version,
    shownArgs: of.givenArgs,
    givenArgs: of.givenArgs,
    isolation: NOT_CONFINED,
    approval: null,
    secrets: null,
    ...withinBudget(limits, { maxAttempts: 1, backoffS: 0, maxBackoffS: 0 }, budget),
    idempotent: true,
    budget: { maxRuns: null },
    needsSlot: false,
    rate: null,
    answers: of.answers,
    answerTimeoutS: environment.answer_timeout_s,
    onQuestion: request.onQuestion,
    cwd,
    idempotencyKey: request.idempotencyKey ?? null,
    replays: null,
    caller: request.caller ?? null,
    parent: request.parent ?? null,
    group: request.group ?? null,
    callerEnv: env,
    isForced: again?.force ?? false,
  };
}
