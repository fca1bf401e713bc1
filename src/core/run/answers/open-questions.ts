import { holdsRedaction } from '../../../protocol/redaction-mark.ts';
import { isOrchestration } from '../../../protocol/run.ts';
import type { ReadEvent, RunStore } from '../../ports/run-store.ts';
import { livenessOf } from '../read-run.ts';

/** A question of a run, and its answer if it has one. */
export interface AskedQuestion {
  asked: ReadEvent;
  answered: ReadEvent | undefined;
  /** Whether the run accepts an answer now. */
  isOpen: boolean;
  /** The child run that asked; absent when the run itself asked. */
  askedBy?: ChildQuestion['askedBy'];
}

/** The questions of a run so far, ordered by when each was first asked. Throws E_RUN_NOT_FOUND. */
export async function questionsOf(store: RunStore, runId: string): Promise<AskedQuestion[]> {
  const { record, liveness } = await livenessOf(store, runId);
  const questions = questionsIn(await store.questionEvents(runId), isOrchestration(record.kind));
  if (liveness === 'lost') return questions.map((question) => ({ ...question, isOpen: false }));
  return Promise.all(
    questions.map(async (question) => ({ ...question, isOpen: await isStillOpen(store, question) })),
  );
}

/** The supervisor of a child takes the answer, and the log of its workflow follows later. */
async function isStillOpen(store: RunStore, { isOpen, askedBy }: AskedQuestion): Promise<boolean> {
  if (!isOpen || askedBy === undefined) return isOpen;
  const ofChild = await questionsOf(store, askedBy.runId).catch(() => []);
  return ofChild.some(({ asked, isOpen }) => asked.action_id === askedBy.actionId && isOpen);
}

/** Computes the questions from a run's question events. Set `asksForTasks` for an orchestrator, whose tasks are runs that ask. */
export function questionsIn(events: readonly ReadEvent[], asksForTasks: boolean): AskedQuestion[] {
  const questions = new Map<string, AskedQuestion>();
  /** The action ids that have an answer file. */
  const filed = new Set<string>();
  for (const event of events) {
    const id = String(event.action_id);
    const known = questions.get(id);
    switch (event.type) {
      case 'task_action_required': {
        const child = asksForTasks ? readChildQuestion(event) : undefined;
        if (child === undefined) break;
        const asked = { ...child.asked, action_id: child.actionId };
        questions.set(child.actionId, { asked, answered: undefined, isOpen: true, askedBy: child.askedBy });
        break;
      }
      case 'task_done':
        if (asksForTasks) closeMatching(questions, (_, id) => isOfTask(id, String(event.task_id)));
        break;
      case 'action_required':
        questions.set(id, {
          asked: event,
          answered: filed.has(id) ? known?.answered : undefined,
          isOpen: !filed.has(id),
        });
        break;
      case 'action_answered':
        if (known !== undefined) questions.set(id, { ...known, answered: event, isOpen: false });
        filed.add(id);
        break;
      case 'runner_state':
        if (event.reason === 'retry') filed.clear();
        if (event.to !== 'waiting_ai') closeMatching(questions, ({ asked }) => asked.blocking === true);
        break;
      case 'runner_end':
        closeMatching(questions, () => true);
        // The runner removes the answer files that contain a secret when the run ends.
        for (const [id, { answered }] of questions) if (holdsRedaction(answered?.answer)) filed.delete(id);
        break;
      default:
    }
  }
  return [...questions.values()];
}

/** Closes the questions that match. A blocking question ends with the wait of its attempt; the next attempt asks it again. */
function closeMatching(
  questions: Map<string, AskedQuestion>,
  matches: (question: AskedQuestion, id: string) => boolean,
): void {
  for (const [id, question] of questions)
    if (matches(question, id)) questions.set(id, { ...question, isOpen: false });
}

type Event = Readonly<Record<string, unknown>>;

/** A question that a child run of a workflow asked, as the workflow's log records it. */
interface ChildQuestion {
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
function isOfTask(actionId: string, taskId: string): boolean {
  return actionId.startsWith(`${taskId}:`) || actionId.startsWith(`${taskId}/`);
}
