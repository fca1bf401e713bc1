import { expressionsIn } from '../expression/expression.ts';
import type { Step, Workflow } from '../model.ts';
import type { StepState } from './step-states.ts';

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
