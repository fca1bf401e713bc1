import { readEvents } from './follow.ts';

type Event = Readonly<Record<string, unknown>>;

/** A question of a run, and its answer if it has one. */
export interface AskedQuestion {
  asked: Event;
  answered: Event | undefined;
  /** Whether an answer would be taken now. */
  isOpen: boolean;
}

/** The questions of a run so far, in the order in which they were asked first. */
export async function questionsOf(eventsPath: string): Promise<AskedQuestion[]> {
  const questions = new Map<string, AskedQuestion>();
  for await (const event of readEvents(eventsPath, { wait: false })) {
    const id = String(event.action_id);
    const known = questions.get(id);
    switch (event.type) {
      case 'action_required':
        questions.set(id, { asked: event, answered: known?.answered, isOpen: known?.answered === undefined });
        break;
      case 'action_answered':
        if (known !== undefined) questions.set(id, { ...known, answered: event, isOpen: false });
        break;
      case 'runner_state':
        if (event.to !== 'waiting_ai') closeThose(questions, ({ asked }) => asked.blocking === true);
        break;
      case 'runner_end':
        closeThose(questions, () => true);
        break;
      default:
    }
  }
  return [...questions.values()];
}

/** A run that goes on has no blocking question: the attempt that asked it is over, and the next one asks anew. */
function closeThose(
  questions: Map<string, AskedQuestion>,
  isMeant: (question: AskedQuestion) => boolean,
): void {
  for (const [id, question] of questions)
    if (isMeant(question)) questions.set(id, { ...question, isOpen: false });
}
