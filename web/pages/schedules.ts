import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { FailedAnswer, OperationTypes } from '../../src/client/index.ts';
import { client, useAnswer } from '../connection.ts';
import { Command } from '../parts/command.ts';
import { Failure } from '../parts/failure.ts';
import { plain } from '../parts/plain-text.ts';
import { State } from '../parts/state.ts';
import { Time } from '../parts/time.ts';
import { hrefOf } from '../route.ts';

type Schedule = OperationTypes['schedule.list']['data']['schedules'][number];

/** When each schedule and watch runs next, and what it did last. */
export function SchedulesPage() {
  // No stream reports changes of schedules themselves, so an action here loads them again.
  const [version, setVersion] = useState(0);
  return html`<h1>Schedules</h1><${Schedules} key=${version} onChange=${() => setVersion(version + 1)} />`;
}

function Schedules({ onChange }: { onChange: () => void }) {
  const answer = useAnswer('schedule.list', {});
  if (answer === undefined) return null;
  if (!answer.ok) return html`<${Failure} answer=${answer} />`;
  const { schedules } = answer.data;
  if (schedules.length === 0)
    return html`<p>This project has no schedules.</p>
      <p><${Command} text="acor schedule add TOOL --cron '30 3 * * *'" /></p>
      <p><${Command} text="acor watch TOOL --on 'src/**'" /></p>`;
  return schedules.map(
    (schedule) =>
      html`<article class="card" key=${schedule.name}><${Entry} schedule=${schedule} onChange=${onChange} /></article>`,
  );
}

function Entry({ schedule, onChange }: { schedule: Schedule; onChange: () => void }) {
  const { name, target, args, cron, timezone, on, state, why, next_at, last, by } = schedule;
  return html`
    <h2>${plain(name)} <${State} name=${state} /></h2>
    <p>
      <code>${plain([target, ...args].join(' '))}</code> ${cron !== null ? html`at <code>${plain(cron)}</code> in ${plain(timezone ?? '')}` : html`after changes of <code>${plain((on ?? []).join(' '))}</code>`}
      <span class="note"> added by ${plain(by)}</span>
    </p>
    ${why !== null && why !== '' && html`<p class="note">${plain(why)}</p>`}
    ${next_at !== null && html`<p>Next: <${Time} at=${next_at} /></p>`}
    ${last !== null && html`<p>Last: <${Time} at=${last.at} /> ${last.run_id === null ? `${last.outcome}: ${plain(last.why ?? '')}` : html`<a href=${hrefOf('runs', last.run_id)}>${last.run_id}</a>`}</p>`}
    <${Action} operation=${state === 'active' ? 'schedule.pause' : 'schedule.resume'} name=${name} onChange=${onChange} />
    <p><a href=${hrefOf('runs', undefined, { caller: `schedule:${name}` })}>Its runs</a></p>`;
}

function Action({
  operation,
  name,
  onChange,
}: {
  operation: 'schedule.pause' | 'schedule.resume';
  name: string;
  onChange: () => void;
}) {
  const [failed, setFailed] = useState<FailedAnswer>();
  const act = async () => {
    const answer = await client.call(operation, { name }).catch(() => undefined);
    if (answer?.ok === false) setFailed(answer);
    else onChange();
  };
  const word = operation === 'schedule.pause' ? 'Pause' : 'Resume';
  return html`<button type="button" onClick=${act}>${word}</button> <${Command} text=${`acor schedule ${word.toLowerCase()} ${name}`} />
    ${failed !== undefined && html`<${Failure} answer=${failed} />`}`;
}
