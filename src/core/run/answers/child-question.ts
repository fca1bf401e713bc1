type Event = Readonly<Record<string, unknown>>;

/** A question that a child run of a workflow asked, as the workflow's log records it. */
export interface ChildQuestion {
  /** The action id at the workflow: `<task id>:<action id>`; for a nested workflow `<task id>/<task id>:<action id>`. */
  actionId: string;
  /** The question itself. */
  asked: Event;
  askedBy: { runId: string; actionId: string };
}

/** Reads a `task_action_required` event of a workflow's log; undefined when it lacks the child's run id or event. */
export function readChildQuestion(event: Event): ChildQuestion | undefined {
  const { task_id, child_run_id, child_event } = event;
  if (typeof child_run_id !== 'string' || typeof child_event !== 'object' || child_event === null)
    return undefined;
  const asked = child_event as Event;
  // A child that is a workflow forwards the questions of its own children.
  const inner = asked.type === 'task_action_required' ? readChildQuestion(asked) : undefined;
  if (inner !== undefined) return { ...inner, actionId: taskActionId(String(task_id), inner.actionId) };
  const actionId = String(asked.action_id);
  return {
    actionId: taskActionId(String(task_id), actionId),
    asked,
    askedBy: { runId: child_run_id, actionId },
  };
}

/** The action id at a workflow for a question that its task asked. */
export function taskActionId(taskId: string, actionId: string): string {
  return `${taskId}${actionId.includes(':') ? '/' : ':'}${actionId}`;
}

/** Whether an action id at a workflow belongs to a task. */
export function isOfTask(actionId: string, taskId: string): boolean {
  return actionId.startsWith(`${taskId}:`) || actionId.startsWith(`${taskId}/`);
}
