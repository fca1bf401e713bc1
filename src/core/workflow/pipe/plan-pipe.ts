import { AcorError } from '../../../protocol/acor-error.ts';
import { kindOfName, runName } from '../../../protocol/run-kind.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { planRun } from '../../run/plan/plan.ts';
import type { RecordForm } from '../../run/records/record-reader.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunnerServices } from '../../run/services.ts';
import { type ParentPlan, planParent } from '../parent-plan.ts';
import { type Stage, stagesOf } from './pipe-call.ts';

/** What is decided of a pipe's run before anything starts. */
export interface PipePlan extends ParentPlan {
  stages: readonly PlannedStage[];
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
  if (isGivenSecret) throw holdsSecret();
  const plan = planParent(services, request, {
    name: runName('pipe', stages.map(({ tool }) => tool).join('|')),
    version: null,
    givenArgs: request.args,
    timeoutS: request.timeoutS ?? longestS,
    answers: [...(request.answers ?? [])],
  });
  return { ...plan, stages };
}

async function planStage(services: RunnerServices, request: RunRequest, { taskId, tool, args }: Stage) {
  const { cwd, env } = request;
  try {
    return await planRun(services, { kind: kindOfName(tool), tool, args, cwd, env });
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    const { code, message, hint, details, next } = error;
    throw new AcorError(code, `stage ${taskId} of the pipe: ${message}`, {
      ...(hint && { hint }),
      ...(details && { details: { ...details } }),
      ...(next && { next }),
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
      hint: "Name the secret under 'secrets' in the manifest of the tool that needs it, and store it.",
    },
  );
}
