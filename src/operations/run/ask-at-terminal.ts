import type { OperationContext } from '../../compose/operation.ts';
import type { DialogEnd } from '../../core/supervision/follow-run.ts';
import type { AcorApp } from '../acor-app.ts';

/** Returns the function that asks the person at the terminal; undefined when there is no person, or this caller may not answer. */
export async function askAtTerminal(
  runId: string,
  ctx: OperationContext<AcorApp>,
  signal: AbortSignal,
): Promise<(() => Promise<DialogEnd>) | undefined> {
  const { person, app } = ctx;
  const ask = person?.ask?.bind(person);
  if (person === null || ask === undefined) return undefined;
  if (!(await app.isAllowed({ name: 'run.answer', effect: 'writes' }, { run: runId }))) return undefined;
  return async () => {
    const [{ askPerson }, { store }] = await Promise.all([
      import('../../core/supervision/ask-person.ts'),
      app.project(),
    ]);
    return askPerson(store, runId, { ask, say: (line) => person.say(line) }, signal);
  };
}
