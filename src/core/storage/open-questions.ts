import { readEvents } from './follow.ts';

type Event = Readonly<Record<string, unknown>>;

/** The questions of a run so far, in the order in which they were asked, each with its answer if it has one. */
export async function questionsOf(
  eventsPath: string,
): Promise<{ asked: Event; answered: Event | undefined }[]> {
  const questions = new Map<string, { asked: Event; answered: Event | undefined }>();
  for await (const event of readEvents(eventsPath, { wait: false })) {
    const id = String(event.action_id);
    if (event.type === 'action_required')
      questions.set(id, { asked: event, answered: questions.get(id)?.answered });
    else if (event.type === 'action_answered') {
      const known = questions.get(id);
      if (known !== undefined) known.answered = event;
    }
  }
  return [...questions.values()];
}
