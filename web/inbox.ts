import { effect, signal } from '@preact/signals';
import type { FailedAnswer, OperationTypes } from '../src/client/index.ts';
import { client, keepLoaded } from './connection.ts';
import { plain } from './parts/plain-text.ts';

export type Question = OperationTypes['run.decisions']['data']['decisions'][number];

/** The open questions of all runs, those with the earliest deadline first; undefined until they have come. */
export const openQuestions = signal<Question[] | undefined>(undefined);

/** Why the questions cannot be read. */
export const inboxProblem = signal<FailedAnswer | undefined>(undefined);

/** What has happened to questions that were shown, the newest first. */
export const notices = signal<readonly string[]>([]);

const MAX_NOTICES = 5;
const answeredHere = new Set<string>();

export function keyOf({ run_id, action_id }: Pick<Question, 'run_id' | 'action_id'>): string {
  return `${run_id} ${action_id}`;
}

/** Marks a question as answered by this page, which then does not report its end. */
export function markAnswered(question: Question): void {
  answeredHere.add(keyOf(question));
  openQuestions.value = openQuestions.value?.filter((each) => keyOf(each) !== keyOf(question));
  report(`You answered ${plain(question.action)}.`);
}

/** Keeps the open questions up to date, with the count in the title of the page. */
export function keepInbox(): void {
  effect(() => {
    const count = openQuestions.value?.length ?? 0;
    document.title = count === 0 ? 'ACOR' : `(${count}) ACOR`;
  });
  keepLoaded(() => void load());
}

async function load(): Promise<void> {
  const answer = await client.call('run.decisions', { open: true }).catch(() => undefined);
  if (answer === undefined) return;
  if (!answer.ok) {
    inboxProblem.value = answer;
    return;
  }
  inboxProblem.value = undefined;
  const before = openQuestions.value;
  const now = answer.data.decisions.toSorted(byDeadline);
  openQuestions.value = now;
  const keys = new Set(now.map(keyOf));
  const known = new Set(before?.map(keyOf));
  for (const gone of before ?? [])
    if (!keys.has(keyOf(gone)) && !answeredHere.delete(keyOf(gone))) void reportEnd(gone);
  for (const asked of now) if (before !== undefined && !known.has(keyOf(asked))) notify(asked);
}

function byDeadline(a: Question, b: Question): number {
  const [left, right] = [a, b].map(({ question, asked_at }) => `${question?.expires_at ?? '9'} ${asked_at}`);
  return left! < right! ? -1 : 1;
}

/** Says why a question is not open any more. */
async function reportEnd(question: Question): Promise<void> {
  const answer = await client.call('run.decisions', { run: question.run_id }).catch(() => undefined);
  const found = answer?.ok
    ? answer.data.decisions.find((each) => keyOf(each) === keyOf(question))
    : undefined;
  const action = plain(question.action);
  if (found?.state !== 'answered') report(`${action} is no longer open: the run has ended.`);
  else if (found.source === 'default') report(`${action} got its default answer: ${shown(found.answer)}.`);
  else report(`${action} was answered meanwhile by ${plain(found.by ?? '')}: ${shown(found.answer)}.`);
}

function shown(answer: unknown): string {
  return plain(typeof answer === 'string' ? answer : JSON.stringify(answer));
}

function report(notice: string): void {
  notices.value = [notice, ...notices.value].slice(0, MAX_NOTICES);
}

/** For a person who looks at something else. */
function notify({ tool, action, question }: Question): void {
  if (!document.hidden || !('Notification' in globalThis) || Notification.permission !== 'granted') return;
  new Notification(`${plain(tool)} asks`, { body: plain(question?.msg ?? action) });
}
