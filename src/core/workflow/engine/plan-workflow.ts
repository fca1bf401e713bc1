import { AcorError } from '../../../protocol/acor-error.ts';
import { graphOf, LIST_WORKFLOWS, resumeWorkflow } from '../../../protocol/next-steps.ts';
import { runName, withoutKind } from '../../../protocol/run.ts';
import { nearestWords } from '../../../util/nearest.ts';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import { type ArgumentProblem, refuseArguments, workflowUsage } from '../../registry/argument-problem.ts';
import { readInputs } from '../../registry/read-inputs.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { slowPatternProblems } from '../../registry/slow-patterns.ts';
import { answerTo, checkOfAnswers } from '../../run/answers/question.ts';
import { toolMayAsk } from '../../run/may-ask.ts';
import { mayCost } from '../../run/plan/cost.ts';
import { preparedAnswers } from '../../run/plan/from-request.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunnerServices } from '../../run/services.ts';
import { toolsOfWorkflow } from '../called-tools.ts';
import { allSteps, worksOf } from '../check/checked-file.ts';
import { problemsOfGivenInputs } from '../check/given-inputs.ts';
import { loadWorkflow } from '../inspect-workflow.ts';
import { inputSpecsOf, type Step, type Task, type Workflow } from '../model.ts';
import { type ParentPlan, planParent } from '../parent-plan.ts';
import { refuseCertain } from './refuse-certain.ts';
import type { ChildTask } from './task.ts';

/** Everything that is decided about a workflow's run before it starts. */
export interface WorkflowPlan extends ParentPlan {
  workflow: Workflow;
  /** The input values, including defaults; null for an input without a value or a default. */
  inputs: Readonly<Record<string, unknown>>;
  /** The steps that run again although they have completed. */
  stepsAgain: readonly string[];
  /** Whether the child of a task may cost money. */
  mayCost(task: Pick<ChildTask, 'work'>): boolean;
}

/** Plans the run of the requested workflow. Starts nothing and writes nothing. */
export async function planWorkflow(services: RunnerServices, request: RunRequest): Promise<WorkflowPlan> {
  const { again, cwd, args } = request;
  const wanted = withoutKind(request.tool);
  const { workflow, surroundings } = await loadWorkflow(wanted, { ...services, cwd }).catch((error) => {
    throw again === undefined ? error : withoutFile(error, wanted, again.runId);
  });
  const { file } = workflow;
  refuseWhatCannotRun(workflow);
  await refuseAnswers(workflow, request.answers ?? [], wanted);
  const name = runName('workflow', workflow.name);
  const version = `sha256:${workflow.digest}`;
  if (again !== undefined && !again.force) await refuseChanged(services, again.runId, file, version);
  const inputs = await valuesOf(workflow, args, request);
  // Of a resumed workflow, completed steps may have used them up.
  if (again === undefined) {
    refuseInputs(workflow, await problemsOfGivenInputs(workflow, inputs, surroundings), wanted);
    await refuseCertain(services, request, workflow);
  }
  const tools = await toolsOfWorkflow(services, workflow);
  const plan = planParent(services, request, {
    tools,
    name,
    version,
    digest: workflow.digest,
    givenArgs: [file, ...args],
    timeoutS: request.timeoutS ?? workflow.timeoutS ?? services.config.config.environment.timeout_s,
    answers: preparedAnswers(services.config, request, name),
  });
  return {
    ...plan,
    group: plan.group ?? groupOf(workflow, plan.runId),
    workflow,
    inputs,
    mayCost: costlyTasks(tools),
    stepsAgain: again?.from === undefined ? [] : stepsAfter(workflow, again.from),
  };
}

/** The file of an earlier attempt is gone: another attempt takes no other path. */
function withoutFile(error: unknown, file: string, runId: string): unknown {
  if (!(error instanceof AcorError) || error.code !== 'E_INPUT_NOT_FOUND') return error;
  return new AcorError(error.code, `${file}, the file of workflow ${runId}, does not exist`, {
    hint: 'Move the file back to this path. Or start the workflow as a new run, by its present name or path.',
    next: [LIST_WORKFLOWS],
  });
}

/** Sub-workflows may run any tool. */
function costlyTasks(tools: readonly ToolEntry[]): WorkflowPlan['mayCost'] {
  const costly = new Set(tools.filter((tool) => mayCost(tool)).map(({ name }) => name));
  return ({ work }) => {
    if (costly.size === 0) return false;
    if (work.kind === 'workflow') return true;
    return (work.kind === 'tool' ? [work] : work.stages).some(({ tool }) => costly.has(tool));
  };
}

/** Answers that a decision of the file can never accept. Questions of the tools are not known before they are asked. */
async function refuseAnswers(
  workflow: Workflow,
  answers: readonly PreparedAnswer[],
  wanted: string,
): Promise<void> {
  if (answers.length === 0) return;
  for (const work of allSteps(workflow).flatMap(worksOf)) {
    if (work.kind !== 'decision') continue;
    const given = answers.find(({ action }) => action === work.name || action === work.action);
    if (given === undefined) continue;
    const options = work.options.map(({ id, label }) => ({ id, ...(label !== undefined && { label }) }));
    const check = await checkOfAnswers({ options, schema: work.schema, actionId: given.action });
    const problem = check(answerTo({ options }, given.answer));
    if (problem !== undefined)
      throw new AcorError('E_BAD_ANSWER', `the answer given beforehand is refused: ${problem}`, {
        hint: 'Give one that the step accepts, or leave it out and answer when the workflow asks.',
        details: { action: given.action, answer: given.answer, options: work.options },
        next: [graphOf(wanted)],
      });
  }
}

/**
 * A workflow with sub-workflows counts its runs in the queue, because the sub-workflows share no other state. Without
 * sub-workflows, the engine's own slots are enough.
 */
function groupOf({ steps, finally: last, maxConcurrency }: Workflow, runId: string): ParentPlan['group'] {
  const holdsWorkflow = ({ kind, ...step }: Pick<Step, 'kind'> & { tasks?: readonly { kind: string }[] }) =>
    kind === 'workflow' || step.tasks?.some((task) => task.kind === 'workflow') === true;
  return [...steps, ...last].some(holdsWorkflow) ? { id: runId, maxRuns: maxConcurrency } : null;
}

async function valuesOf(
  workflow: Workflow,
  args: readonly string[],
  request: RunRequest,
): Promise<Record<string, unknown>> {
  const specs = inputSpecsOf(workflow);
  const { read, problems } = readInputs(specs, args, {
    cwd: request.cwd,
    readsFiles: request.parent === undefined,
    ...(request.readStdin && { readStdin: request.readStdin }),
  });
  refuseInputs(workflow, [...problems, ...(await slowPatternProblems(read))], withoutKind(request.tool));
  const given = Object.fromEntries(read.map(({ spec, values }) => [spec.name, values[0]?.value ?? null]));
  return { ...Object.fromEntries(specs.map(({ name }) => [name, null])), ...given };
}

function refuseInputs(workflow: Workflow, problems: readonly ArgumentProblem[], wanted: string): void {
  const usage = workflowUsage(wanted, inputSpecsOf(workflow));
  refuseArguments(workflow.name, problems, usage, [graphOf(wanted)]);
}

function refuseWhatCannotRun({ inputs, file }: Workflow): void {
  const secret = inputs.find((input) => input.secret);
  if (secret === undefined) return;
  throw new AcorError(
    'E_WORKFLOW_INVALID',
    `${file}: the input '${secret.name}' is secret, but ACOR stores the inputs of a workflow to resume it`,
    {
      hint: "Name the secret under 'secrets' in the manifest of the tool that needs it, and store it.",
    },
  );
}

/** The completed steps ran as an earlier version of the file says. */
async function refuseChanged(
  { store }: Pick<RunnerServices, 'store'>,
  runId: string,
  file: string,
  version: string,
): Promise<void> {
  const { tool_version: before, given_args: given } = await store.read(runId);
  if (before === null || before === version) return;
  throw new AcorError('E_USAGE', `${file} has changed since run ${runId} started`, {
    hint: 'Restore the file, start a new run, or add --force: completed steps stay completed, by name.',
    details: { was: before, is: version },
    next: [
      {
        operation: 'workflow.run',
        input: { workflow: file, args: given?.slice(1) ?? [] },
        why: 'Start the workflow again from its beginning.',
      },
      resumeWorkflow(runId, { force: true }),
    ],
  });
}

/**
 * A step and all steps that need it, directly or indirectly. The `finally` steps are always included. Throws E_USAGE
 * for an unknown step.
 */
function stepsAfter(workflow: Workflow, from: string): string[] {
  const { steps, finally: last, file } = workflow;
  const names = allSteps(workflow).map(({ name }) => name);
  if (!names.includes(from)) {
    const [nearest] = nearestWords(from, names, 1);
    throw new AcorError('E_USAGE', `${file} has no step '${from}'`, {
      hint:
        nearest === undefined ? `Its steps: ${names.slice(0, 20).join(', ')}` : `Did you mean '${nearest}'?`,
    });
  }
  const dependents = new Map<string, string[]>();
  for (const { name, needs } of steps)
    for (const need of needs) dependents.set(need, [...(dependents.get(need) ?? []), name]);
  const found = new Set([from]);
  // Iterating a Set includes the elements that are added during the iteration.
  for (const name of found) for (const next of dependents.get(name) ?? []) found.add(next);
  for (const { name } of last) found.add(name);
  return [...found];
}

/** Whether a workflow may wait for an answer. A sub-workflow is assumed to. */
export async function mayAsk(
  services: RunnerServices,
  { workflow: { steps, finally: last }, cost }: Pick<WorkflowPlan, 'workflow' | 'cost'>,
): Promise<boolean> {
  const asksAtLimit = cost.limit !== null && services.config.config.budget.on_cost_limit === 'ask';
  const tools = new Set<string>();
  for (const step of [...steps, ...last]) {
    for (const { kind, onError, ...work } of tasksOf(step)) {
      if (kind === 'decision' || kind === 'workflow' || onError === 'ask') return true;
      if ('tool' in work) tools.add(work.tool);
      if ('stages' in work) for (const { tool } of work.stages) tools.add(tool);
    }
  }
  for (const tool of tools) if (await taskMayAsk(services, tool, asksAtLimit)) return true;
  return false;
}

function tasksOf(step: Step): readonly (Step | Task)[] {
  const { kind } = step;
  // The step's `on_error` also applies to its tasks.
  return kind === 'parallel'
    ? [...step.tasks, ...step.tasks.map((task) => ({ ...task, onError: step.onError }))]
    : [step];
}

async function taskMayAsk(
  { registry, config }: RunnerServices,
  tool: string,
  asksAtLimit: boolean,
): Promise<boolean> {
  try {
    const found = await registry.find(tool);
    return toolMayAsk(found, config) || (asksAtLimit && mayCost(found));
  } catch {
    // An unknown tool is reported by the step that runs it.
    return false;
  }
}
