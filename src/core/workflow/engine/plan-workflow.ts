import { AcorError } from '../../../protocol/acor-error.ts';
import { refuseArguments } from '../../registry/argument-problem.ts';
import { readInputs } from '../../registry/read-inputs.ts';
import { preparedAnswers } from '../../run/answers/prepared-answers.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { type RunnerServices, WORKFLOW_PREFIX } from '../../run/services.ts';
import { inputSpecsOf } from '../inputs.ts';
import { loadWorkflow, type WorkflowProject } from '../inspect-workflow.ts';
import type { Step, Workflow } from '../model.ts';
import { type ParentPlan, planParent } from '../parent-plan.ts';
import { stepsAfter } from './steps-after.ts';

/** What workflows are planned with: all tools are looked at beforehand. */
export type WorkflowServices = Omit<RunnerServices, 'registry'> & {
  registry: RunnerServices['registry'] & WorkflowProject['registry'];
};

/** What is decided of a workflow's run before anything starts. */
export interface WorkflowPlan extends ParentPlan {
  workflow: Workflow;
  /** The values of its inputs, defaults included; null for one that has neither. */
  inputs: Readonly<Record<string, unknown>>;
  /** The steps that are run again although they may be done. */
  stepsAgain: readonly string[];
}

/** Plans the run of a workflow whose path is in the request, after the prefix. Starts and writes nothing. */
export async function planWorkflow(services: WorkflowServices, request: RunRequest): Promise<WorkflowPlan> {
  const { again, cwd, args } = request;
  const wanted = request.tool.slice(WORKFLOW_PREFIX.length);
  const { workflow } = await loadWorkflow(wanted, { ...services, cwd });
  const { file } = workflow;
  refuseWhatCannotRun(workflow);
  const name = `${WORKFLOW_PREFIX}${workflow.name}`;
  const version = `sha256:${workflow.digest}`;
  if (again !== undefined && !again.force) await refuseChanged(services, again.runId, file, version);
  const plan = planParent(services, request, {
    name,
    version,
    givenArgs: [file, ...args],
    timeoutS: request.timeoutS ?? workflow.timeoutS ?? services.config.config.environment.timeout_s,
    answers: preparedAnswers(services.config, request, name),
  });
  return {
    ...plan,
    group: plan.group ?? groupOf(workflow, plan.runId),
    workflow,
    inputs: valuesOf(workflow, args, request),
    stepsAgain: again?.from === undefined ? [] : stepsAfter(workflow, again.from),
  };
}

/** Children of children count, too: they know of each other only by the queue. Without any, counting them here is enough. */
function groupOf({ steps, finally: last, maxConcurrency }: Workflow, runId: string): ParentPlan['group'] {
  const holdsWorkflow = ({ kind, ...step }: Pick<Step, 'kind'> & { tasks?: readonly { kind: string }[] }) =>
    kind === 'workflow' || step.tasks?.some((task) => task.kind === 'workflow') === true;
  return [...steps, ...last].some(holdsWorkflow) ? { id: runId, maxRuns: maxConcurrency } : null;
}

function valuesOf(workflow: Workflow, args: readonly string[], request: RunRequest): Record<string, unknown> {
  const specs = inputSpecsOf(workflow);
  const { read, problems } = readInputs(specs, args, {
    cwd: request.cwd,
    ...(request.readStdin && { readStdin: request.readStdin }),
  });
  const flags = specs.map(({ name, required }) => (required ? `--${name} …` : `[--${name} …]`));
  refuseArguments(workflow.name, problems, `acor workflow run ${[workflow.file, ...flags].join(' ')}`);
  const given = Object.fromEntries(read.map(({ spec, values }) => [spec.name, values[0]?.value ?? null]));
  return { ...Object.fromEntries(specs.map(({ name }) => [name, null])), ...given };
}

function refuseWhatCannotRun({ inputs, file }: Workflow): void {
  const secret = inputs.find((input) => input.secret);
  if (secret === undefined) return;
  throw new AcorError(
    'E_WORKFLOW_INVALID',
    `${file}: the input '${secret.name}' is secret, but what a workflow is given is kept, so that it can be resumed`,
    {
      hint: "Name the secret under 'secrets' in the manifest of the tool that needs it: acor secret set NAME",
    },
  );
}

/** Steps that are done were done as the file said then. */
async function refuseChanged(
  { store }: Pick<RunnerServices, 'store'>,
  runId: string,
  file: string,
  version: string,
): Promise<void> {
  const { tool_version: before } = await store.read(runId);
  if (before === null || before === version) return;
  throw new AcorError('E_USAGE', `${file} is not what it was when run ${runId} began: it has been changed`, {
    hint: 'Put it back, start it anew, or add --force: steps that are done stay done, by their names.',
    details: { was: before, is: version },
    next: [`acor workflow run ${file}`, `acor workflow resume ${runId} --force`],
  });
}
