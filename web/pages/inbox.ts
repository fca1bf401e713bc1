import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { inboxProblem, keyOf, notices, openQuestions, type Question } from '../inbox.ts';
import { Failure } from '../parts/failure.ts';
import { plain } from '../parts/plain-text.ts';
import { QuestionForm } from '../parts/question-form.ts';
import { Time } from '../parts/time.ts';
import { hrefOf } from '../route.ts';

/** The open questions of all runs, answered with keys alone or with a pointer. */
export function InboxPage() {
  const [chosen, choose] = useState<string>();
  const questions = openQuestions.value ?? [];
  const found = questions.findIndex((each) => keyOf(each) === chosen);
  const at = Math.max(found, 0);
  useEffect(() => {
    const move = (by: number) => {
      const next = questions[(at + by + questions.length) % questions.length];
      if (next === undefined) return;
      choose(keyOf(next));
      document.getElementById(cardId(next))?.focus();
    };
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'j') move(1);
      else if (event.key === 'k') move(-1);
      // From a question to the next one; the first press only goes to the one that is first.
      else if (event.key === 'n') move(found === -1 ? 0 : 1);
      else if (/^[1-9]$/.test(event.key) && questions[at] !== undefined)
        chooseOption(questions[at], event.key);
      else if (event.key === 'Enter' && isOption(event.target)) formOf(event.target)?.requestSubmit();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return html`
    <h1>Inbox</h1>
    <p class="note">
      <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>1</kbd>–<kbd>9</kbd> choose, <kbd>Enter</kbd> answers, <kbd>n</kbd> goes to the next question.${' '}
      <${NotifyButton} />
    </p>
    <div aria-live="polite">${notices.value.map((notice) => html`<p key=${notice} class="notice">${notice}</p>`)}</div>
    ${inboxProblem.value !== undefined && html`<${Failure} answer=${inboxProblem.value} />`}
    ${openQuestions.value !== undefined && questions.length === 0 && html`<p>No run waits for an answer.</p>`}
    ${questions.map((question, index) => html`<${Card} key=${keyOf(question)} question=${question} isChosen=${index === at} />`)}
  `;
}

function Card({ question: asked, isChosen }: { question: Question; isChosen: boolean }) {
  const { run_id, tool, action, action_id, asked_at, audience, context, question } = asked;
  return html`<article id=${cardId(asked)} tabindex="-1" class=${isChosen ? 'card chosen' : 'card'} aria-labelledby=${`${cardId(asked)}-title`}>
    <h2 id=${`${cardId(asked)}-title`}>${plain(question?.msg ?? action)}</h2>
    <p class="note">
      ${plain(tool)}, for ${audience === 'user' ? 'a person' : audience} · ${plain(action)} (${plain(action_id)}) ·${' '}
      <a href=${hrefOf('runs', run_id)}>${run_id}</a> · asked <${Time} at=${asked_at} />
      ${question?.expires_at && html` · until <${Time} at=${question.expires_at} />`}
      ${question !== undefined && 'default' in question && html` · without an answer: <code>${plain(JSON.stringify(question.default))}</code>`}
      ${question?.blocking === false && ' · the run goes on meanwhile'}
    </p>
    ${hasFields(context) && html`<pre tabindex="0">${plain(JSON.stringify(context, null, 2))}</pre>`}
    <${QuestionForm} question=${asked} />
  </article>`;
}

function NotifyButton() {
  const [permission, setPermission] = useState(
    'Notification' in globalThis ? Notification.permission : 'denied',
  );
  if (permission !== 'default') return null;
  const ask = async () => setPermission(await Notification.requestPermission());
  return html`<button type="button" class="quiet" onClick=${ask}>Notify me of new questions</button>`;
}

function cardId(question: Question): string {
  return `card-${keyOf(question).replaceAll(/[^\w-]/g, '-')}`;
}

function chooseOption(question: Question, key: string): void {
  const card = document.getElementById(cardId(question));
  const option = card?.querySelector<HTMLInputElement>(`[data-option="${key}"]`);
  option?.click();
  option?.focus();
}

function isOption(target: EventTarget | null): target is HTMLInputElement {
  return target instanceof HTMLInputElement && target.type === 'radio';
}

function formOf(target: HTMLInputElement): HTMLFormElement | null {
  return target.form;
}

/** Whether a key is meant for a field. */
function isTyping({ target }: KeyboardEvent): boolean {
  if (isOption(target)) return false;
  return target instanceof Element && target.matches('input, textarea, select');
}

function hasFields(context: unknown): boolean {
  return typeof context === 'object' && context !== null && Object.keys(context).length > 0;
}
