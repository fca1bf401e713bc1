import { holdsRedaction } from '../../protocol/redaction-mark.ts';
import { isOrchestration, kindOfName, type RunKind } from '../../protocol/run-kind.ts';
import { type ChildQuestion, isOfTask, readChildQuestion } from './child-question.ts';
import { readEvents } from './follow.ts';

type Event = Readonly<Record<string, unknown>>;

/** A question of a run, and its answer if it has one. */
export interface AskedQuestion {
  asked: Event;
  answered: Event | undefined;
  /** Whether an answer would be taken now. */
  isOpen: boolean;
  /** Which child has asked; left out for the run itself. */
  askedBy?: ChildQuestion['askedBy'];
}

/** The questions of a run so far, in the order in which they were asked first. */
export async function questionsOf(eventsPath: string): Promise<AskedQuestion[]> {
  const questions = new Map<string, AskedQuestion>();
  /** The ids whose answer a tool finds on file. */
  const filed = new Set<string>();
  // The tasks that a tool reports are its own; those of a workflow or pipe are runs that can be asked.
  let isOrchestrated = false;
  for await (const event of readEvents(eventsPath, { wait: false })) {
    const id = String(event.action_id);
    const known = questions.get(id);
    switch (event.type) {
      case 'runner_start':
        isOrchestrated = isOrchestration(
          (event.kind as RunKind | undefined) ?? kindOfName(String(event.tool)),
        );
        break;
      case 'task_action_required': {
        const child = isOrchestrated ? readChildQuestion(event) : undefined;
        if (child === undefined) break;
        const asked = { ...child.asked, action_id: child.actionId };
        questions.set(child.actionId, { asked, answered: undefined, isOpen: true, askedBy: child.askedBy });
        break;
      }
      case 'task_done':
        if (isOrchestrated) closeThose(questions, (_, id) => isOfTask(id, String(event.task_id)));
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
        if (event.to !== 'waiting_ai') closeThose(questions, ({ asked }) => asked.blocking === true);
        break;
      case 'runner_end':
        closeThose(questions, () => true);
        // An answer that holds a secret is not kept beyond that.
        for (const [id, { answered }] of questions) if (holdsRedaction(answered?.answer)) filed.delete(id);
        break;
      default:
    }
  }
  return [...questions.values()];
}

/** A run that goes on has no blocking question: the attempt that asked it is over, and the next one asks anew. */
function closeThose(
  questions: Map<string, AskedQuestion>,
  isMeant: (question: AskedQuestion, id: string) => boolean,
): void {
  for (const [id, question] of questions)
    if (isMeant(question, id)) questions.set(id, { ...question, isOpen: false });
}
