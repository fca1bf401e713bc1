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
