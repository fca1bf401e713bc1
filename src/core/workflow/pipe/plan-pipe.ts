import { AcorError } from '../../../protocol/acor-error.ts';
import { settingsOf } from '../../../protocol/output-settings.ts';
import { kindOfName, runName } from '../../../protocol/run.ts';
import type { RecordForm, RunLauncher } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { mayCost } from '../../run/plan/cost.ts';
import { planRun } from '../../run/plan/plan.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunnerServices } from '../../run/services.ts';
import type { TaskHistory } from '../engine/task-history.ts';
import { type ParentPlan, planParent } from '../parent-plan.ts';
import { type Stage, stagesOf } from './pipe-call.ts';

/** What is decided about a pipe's run before anything starts. */
export interface PipePlan extends ParentPlan {
  stages: readonly PlannedStage[];
}

export interface PlannedStage extends Stage {
  /** How the log of a stage's run contains its records. */
  form: RecordForm;
  /** Whether its tool may cost money. */
  mayCost: boolean;
}

/**
 * Plans a pipe. The arguments of the request are its stages, one command line each. Each stage is planned as it will
 * run, so that no stage starts if one of them cannot. Starts nothing and writes nothing.
 */
export async function planPipe(services: RunnerServices, request: RunRequest): Promise<PipePlan> {
  const stages: PlannedStage[] = [];
  const tools: ToolEntry[] = [];
  let longestS = 0;
  let isGivenSecret = false;
  for (const stage of stagesOf(request.args)) {
    const { tool, limits, givenArgs } = await planStage(services, request, stage);
    if (stages.length > 0) refuseDeaf(stage, tool);
    stages.push({ ...stage, form: formOf(tool), mayCost: mayCost(tool) });
    tools.push(tool);
    longestS = Math.max(longestS, limits.timeoutS);
    isGivenSecret ||= givenArgs === null;
  }
  if (isGivenSecret) throw holdsSecret();
  const plan = planParent(services, request, {
    tools,
    name: runName('pipe', stages.map(({ tool }) => tool).join('|')),
    version: null,
    digest: null,
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

/** Rejects a tool that never reads its input: the stage before it would wait for ever, or work in vain. */
function refuseDeaf({ taskId }: Stage, { name, manifest, manifestPath }: ToolEntry): void {
  if (manifest.stdin === 'records') return;
  throw new AcorError(
    'E_USAGE',
    `stage ${taskId} of the pipe does not read records: '${name}' does not declare it`,
    {
      hint: `If it reads JSON Lines from its standard input, add "stdin: records" to ${manifestPath ?? `a tool.yaml of '${name}'`}. Otherwise use it only as the first stage.`,
    },
  );
}

/** The lines of a plain program are its records, unless its adapter reads the whole output as one value. */
function formOf({ adapter, manifest }: ToolEntry): RecordForm {
  if (manifest.output === 'records') return 'records';
  return adapter === 'plain' && settingsOf(manifest.output).format === 'text' ? 'lines' : 'messages';
}

function holdsSecret(): AcorError {
  return new AcorError(
    'E_USAGE',
    'an argument of the pipe is a secret, but ACOR stores the arguments of a pipe to resume it',
    {
      hint: "Name the secret under 'secrets' in the manifest of the tool that needs it, and store it.",
    },
  );
}

/** What the parts of a pipe share during an attempt. */
export interface Pipe {
  readonly services: RunnerServices;
  readonly plan: PipePlan;
  readonly writer: RunWriter;
  readonly launcher: RunLauncher;
  readonly history: TaskHistory;
}
