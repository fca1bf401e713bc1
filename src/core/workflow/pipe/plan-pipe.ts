import { AcorError } from '../../../protocol/acor-error.ts';
import { newRunId } from '../../../util/ids.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { withinBudget } from '../../runner/budget.ts';
import { planRun, traceOf } from '../../runner/plan.ts';
import type { RecordForm } from '../../runner/records/record-source.ts';
import type { RunPlan } from '../../runner/run-plan.ts';
import { PIPE_PREFIX, type RunnerServices, type RunRequest } from '../../runner/services.ts';
import { NOT_CONFINED } from '../engine/plan-workflow.ts';
import { type Stage, stagesOf } from './pipe-call.ts';

/** What is decided of a pipe's run before anything starts. */
export interface PipePlan extends RunPlan {
  stages: readonly PlannedStage[];
  callerEnv: RunRequest['env'];
  /** Also stages of which nobody can say what they had done are run again. */
  isForced: boolean;
}

export interface PlannedStage extends Stage {
  /** How the log of its run holds its records. */
  form: RecordForm;
}

/**
 * Plans a pipe, whose stages are the arguments of the request, a command line each. Each stage is planned as it will be when it
 * starts, so that nothing starts if one of them cannot. Starts and writes nothing.
 */
export async function planPipe(services: RunnerServices, request: RunRequest): Promise<PipePlan> {
  const { again, cwd, env } = request;
  const environment = services.config.config.environment;
  const stages: PlannedStage[] = [];
  let longestS = 0;
  let isGivenSecret = false;
  for (const stage of stagesOf(request.args)) {
    const { tool, limits, givenArgs } = await planStage(services, request, stage);
    if (stages.length > 0) refuseDeaf(stage, tool);
    stages.push({ ...stage, form: formOf(tool) });
    longestS = Math.max(longestS, limits.timeoutS);
    isGivenSecret ||= givenArgs === null;
  }
  const limits = {
    timeoutS: request.timeoutS ?? longestS,
    heartbeatGraceS: environment.heartbeat_grace_s,
    stallS: null,
    maxOutputBytes: environment.max_output_size,
    cancelGraceS: environment.cancel_grace_s,
    waitingStopsDeadline: environment.waiting_stops_deadline,
  };
  if (isGivenSecret) throw holdsSecret();
  return {
    runId: again?.runId ?? newRunId(),
    again: again?.mode ?? null,
    ...traceOf(env),
    name: `${PIPE_PREFIX}${stages.map(({ tool }) => tool).join('|')}`,
    version: null,
    shownArgs: request.args,
    givenArgs: request.args,
    isolation: NOT_CONFINED,
    approval: null,
    secrets: null,
    // A pipe is tried again as a whole, by whoever runs it: half of its records are with the next tool by then.
    ...withinBudget(limits, { maxAttempts: 1, backoffS: 0, maxBackoffS: 0 }, services.config.config.budget),
    idempotent: true,
    budget: { maxRuns: null },
    takesPlace: false,
    rate: null,
    answers: [...(request.answers ?? [])],
    answerTimeoutS: environment.answer_timeout_s,
    onQuestion: request.onQuestion,
    cwd,
    idempotencyKey: request.idempotencyKey ?? null,
    replays: null,
    caller: request.caller ?? null,
    parent: request.parent ?? null,
    group: request.group ?? null,
    stages,
    callerEnv: env,
    isForced: again?.force ?? false,
  };
}

async function planStage(services: RunnerServices, request: RunRequest, { taskId, tool, args }: Stage) {
  const { cwd, env } = request;
  try {
    return await planRun(services, { tool, args, cwd, env });
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    const { code, message, hint, details, next } = error;
    throw new AcorError(code, `stage ${taskId} of the pipe: ${message}`, {
      ...(hint && { hint }),
      ...(details && { details: { ...details } }),
      ...(next && { next: [...next] }),
    });
  }
}

/** A tool that would never read what it is given would let the one before it wait for ever, or work in vain. */
function refuseDeaf({ taskId }: Stage, { name, manifest, manifestPath }: ToolEntry): void {
  if (manifest.stdin === 'records') return;
  throw new AcorError(
    'E_USAGE',
    `stage ${taskId} of the pipe does not read records: '${name}' does not say so`,
    {
      hint: `If it reads JSON objects from its standard input, a line each, add "stdin: records" to ${manifestPath ?? `a tool.yaml of '${name}'`}; else only put it first.`,
    },
  );
}

/** The lines of a plain program are its records, unless all of them together are one value. */
function formOf({ adapter, manifest }: ToolEntry): RecordForm {
  return adapter === 'plain' && manifest.output === 'text' ? 'lines' : 'messages';
}

function holdsSecret(): AcorError {
  return new AcorError(
    'E_USAGE',
    'an argument of the pipe is a secret, but what a pipe is given is kept, so that it can be resumed',
    {
      hint: "Name the secret under 'secrets' in the manifest of the tool that needs it: acor secret set NAME",
    },
  );
}
