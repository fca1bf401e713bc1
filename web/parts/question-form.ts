import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { FailedAnswer } from '../../src/client/index.ts';
import { client, useAnswer } from '../connection.ts';
import { keyOf, markAnswered, type Question } from '../inbox.ts';
import { Failure } from './failure.ts';
import { plain } from './plain-text.ts';
import { isRecord, SchemaField } from './schema-field.ts';
import { Steps } from './steps.ts';

/** The ids of the options of a question. */
export function optionsOf({ question }: Question): { id: string; label: string; description: string }[] {
  return (question?.options ?? []).map((option) => {
    const text = (key: string) => (typeof option[key] === 'string' ? plain(option[key]) : '');
    return {
      id: String(option['id']),
      label: text('label') || plain(String(option['id'])),
      description: text('description'),
    };
  });
}

/** The form that answers a question: its options, or a field for its schema. */
export function QuestionForm({ question }: { question: Question }) {
  const [given, setGiven] = useState<unknown>();
  const [reason, setReason] = useState('');
  const [failed, setFailed] = useState<FailedAnswer>();
  const [isBusy, setBusy] = useState(false);
  const options = optionsOf(question);
  const name = keyOf(question).replaceAll(/[^\w-]/g, '-');
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy || given === undefined) return;
    setBusy(true);
    const { run_id: run, action_id } = question;
    const answer = await client
      .call('run.answer', {
        run,
        action_id,
        ...(options.length > 0 ? { choice: String(given) } : { value: JSON.stringify(given) }),
        ...(reason !== '' && { reason }),
      })
      .catch(() => undefined);
    setBusy(false);
    if (answer?.ok) markAnswered(question);
    else setFailed(answer);
  };
  return html`<form onSubmit=${submit}>
    ${
      options.length > 0
        ? html`<fieldset>
          <legend>Answer</legend>
          ${options.map(
            ({ id, label, description }, at) => html`<label key=${id} class="option">
              <input type="radio" name=${name} value=${id} data-option=${at + 1} checked=${given === id} onChange=${() => setGiven(id)} />
              <span><kbd>${at + 1}</kbd> ${label}${description !== '' && html` <span class="note">${description}</span>`}</span>
            </label>`,
          )}
        </fieldset>`
        : html`<${SchemaField} name=${name} label="Answer" schema=${question.question?.schema ?? {}} isRequired=${true} value=${given} onChange=${setGiven} />`
    }
    <div class="field">
      <label for=${`reason-${name}`}>Reason <span class="note">(recorded with the answer)</span></label>
      <input id=${`reason-${name}`} value=${reason} autocomplete="off" onInput=${(event: Event) => setReason((event.target as HTMLInputElement).value)} />
    </div>
    <button type="submit" disabled=${isBusy || given === undefined}>Answer</button>
    ${failed !== undefined && html`<${Failure} answer=${failed} />`}
    <${Commands} question=${question} />
  </form>`;
}

/** The commands that answer, which the server has quoted for a shell. */
function Commands({ question: { run_id: run } }: { question: Question }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details onToggle=${(event: Event) => setOpen((event.target as HTMLDetailsElement).open)}>
    <summary>Commands</summary>
    ${isOpen && html`<${RunCommands} run=${run} />`}
  </details>`;
}

function RunCommands({ run }: { run: string }) {
  const answer = useAnswer('run.show', { run });
  const steps = (answer?.meta.next ?? []).filter(({ body, command }) => isRecord(body) || command !== '');
  return html`<${Steps} steps=${steps.map(({ command, why }) => ({ command, why }))} />`;
}
