import type { Step, Workflow } from '../model.ts';
import { allSteps } from './checked-file.ts';
import { maybeSkipped } from './conditions.ts';

/**
 * The steps that run in any case and whose failure ends the workflow. Of a step with tasks, it has only the tasks whose failure ends the step. A `foreach`
 * may have no items.
 */
export function certainSteps(workflow: Workflow): Step[] {
  const skipped = maybeSkipped(workflow);
  return allSteps(workflow)
    .filter(({ name, foreach, onError }) => !skipped.has(name) && foreach === undefined && onError === 'fail')
    .map(withCertainTasks);
}

function withCertainTasks(step: Step): Step {
  if (step.kind !== 'parallel') return step;
  return { ...step, tasks: step.tasks.filter(({ onError }) => onError === 'fail') };
}
