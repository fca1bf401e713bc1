type Event = Readonly<Record<string, unknown>>;

/** A question that a child of a workflow has asked, as its workflow's log tells of it. */
export interface ChildQuestion {
  /** By which it is answered at the workflow: `<task id>:<action id>`, where a task of a task stands behind a slash. */
  actionId: string;
  /** The question itself. */
  asked: Event;
  askedBy: { runId: string; actionId: string };
}

/** Reads a `task_action_required` of a workflow's log; undefined for one that does not name its child. */
export function readChildQuestion(event: Event): ChildQuestion | undefined {
  const { task_id, child_run_id, child_event } = event;
  if (typeof child_run_id !== 'string' || typeof child_event !== 'object' || child_event === null)
    return undefined;
  const asked = child_event as Event;
  // A child that is a workflow tells of a question of its own children.
  const inner = asked.type === 'task_action_required' ? readChildQuestion(asked) : undefined;
  if (inner !== undefined) return { ...inner, actionId: throughTask(String(task_id), inner.actionId) };
  const actionId = String(asked.action_id);
  return {
    actionId: throughTask(String(task_id), actionId),
    asked,
    askedBy: { runId: child_run_id, actionId },
  };
}

/** How a workflow names a question of its task. */
export function throughTask(taskId: string, actionId: string): string {
  return `${taskId}${actionId.includes(':') ? '/' : ':'}${actionId}`;
}

/** Whether a question's name at a workflow is that of a task. */
export function isOfTask(actionId: string, taskId: string): boolean {
  return actionId.startsWith(`${taskId}:`) || actionId.startsWith(`${taskId}/`);
}
