import { expressionsIn } from '../expression/expression.ts';
import type { Step, Workflow } from '../model.ts';

/** A step as a node of the graph. */
export interface GraphNode {
  /** A generated id: `n0`, `n1` … */
  id: string;
  step: string;
  kind: Step['kind'];
  /** A short description of its work. */
  does: string;
  /** The source of `when`; null for a step that always runs. */
  when: string | null;
  isForeach: boolean;
  isFinally: boolean;
  /** Null when no run was selected, or the run has not reached the step. */
  state: StepState | null;
}

/** The graph of a workflow. Each edge leads from a step to a step that needs it. */
export interface Graph {
  name: string;
  nodes: GraphNode[];
  edges: { from: string; to: string }[];
}

/** Builds the graph of a workflow, with the states of a run if there is one. */
export function graphOf(workflow: Workflow, states: ReadonlyMap<string, StepState> = new Map()): Graph {
  const steps = [
    ...workflow.steps.map((step) => ({ step, isFinally: false })),
    ...workflow.finally.map((step) => ({ step, isFinally: true })),
  ];
  const nodes = steps.map(({ step, isFinally }, index) => ({
    id: `n${index}`,
    step: step.name,
    kind: step.kind,
    does: doesOf(step),
    when: whenOf(step),
    isForeach: step.foreach !== undefined,
    isFinally,
    state: stateOf(step, states),
  }));
  const ids = new Map(nodes.map(({ step, id }) => [step, id]));
  const edges = steps.flatMap(({ step }, index) =>
    [...new Set(step.needs)].flatMap((needed) => {
      const from = ids.get(needed);
      return from === undefined ? [] : { from, to: nodes[index]!.id };
    }),
  );
  return { name: workflow.name, nodes, edges };
}

/** A decision that has started waits for its answer. */
function stateOf({ name, kind }: Step, states: ReadonlyMap<string, StepState>): StepState | null {
  const state = states.get(name) ?? null;
  return state === 'queued' && kind === 'decision' ? 'waiting' : state;
}

function doesOf(step: Step): string {
  switch (step.kind) {
    case 'tool':
      return step.tool;
    case 'decision':
      return `decide: ${step.action}`;
    case 'parallel':
      return `${step.tasks.length} at once`;
    case 'workflow':
      return `workflow: ${step.file.split('/').at(-1)}`;
    case 'pipe':
      return step.stages.map(({ tool }) => tool).join(' | ');
  }
}

function whenOf({ when }: Step): string | null {
  if (when === undefined) return null;
  if (when.kind === 'constant') return String(when.value);
  return expressionsIn(when)
    .map(({ source }) => source)
    .join(' ');
}

/** The state of a step in a run. */
export type StepState = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';

const ENDS: Readonly<Record<string, StepState>> = {
  ok: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
};

/** Several tasks of one step: the first state in this list that a task has is the state of the step. */
const WEIGHT: readonly StepState[] = [
  'waiting',
  'running',
  'queued',
  'failed',
  'cancelled',
  'completed',
  'skipped',
];

/**
 * Derives the states of a workflow's steps from the events of its run (contract §1). A step that is absent has not
 * started.
 */
export async function stepStates(
  events: AsyncIterable<Readonly<Record<string, unknown>>>,
): Promise<Map<string, StepState>> {
  const tasks = new Map<string, StepState>();
  for await (const event of events) {
    const id = event['task_id'];
    if (typeof id !== 'string') continue;
    const state = stateAfter(event);
    if (state !== undefined) tasks.set(id, state);
  }
  const steps = new Map<string, StepState>();
  for (const [id, state] of tasks) {
    const step = stepOf(id);
    const before = steps.get(step);
    if (before === undefined || WEIGHT.indexOf(state) < WEIGHT.indexOf(before)) steps.set(step, state);
  }
  return steps;
}

function stateAfter(event: Readonly<Record<string, unknown>>): StepState | undefined {
  switch (event['type']) {
    case 'task_submitted':
      return 'queued';
    case 'task_started':
    case 'task_progress':
      return 'running';
    case 'action_required':
    case 'task_action_required':
      return 'waiting';
    case 'task_done':
      return ENDS[String(event['status'])] ?? 'failed';
    default:
      return undefined;
  }
}

/**
 * The step of a task id: `load` for `load[3]` and `load.2`. In a step's own name these characters are encoded as `%5b`
 * and so on.
 */
function stepOf(taskId: string): string {
  return taskId
    .split(/[.[/]/, 1)[0]!
    .replace(/%([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
