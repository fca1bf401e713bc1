import { html } from 'htm/preact';
import { useAnswer } from '../connection.ts';
import { Command } from '../parts/command.ts';
import { Failure } from '../parts/failure.ts';
import { plain } from '../parts/plain-text.ts';
import { State } from '../parts/state.ts';

/** What this machine and project offer, with the fix of each failure. */
export function HealthPage() {
  const answer = useAnswer('system.health', {}, { concerns: () => false });
  if (answer === undefined) return html`<h1>Health</h1><p role="status">Checking …</p>`;
  if (!answer.ok) return html`<h1>Health</h1><${Failure} answer=${answer} />`;
  const { status, checks } = answer.data;
  return html`
    <h1>Health: <${State} name=${status} /></h1>
    <dl class="checks">
      ${checks.map(
        ({ name, status, detail, fix }) => html`
          <div key=${name}>
            <dt><${State} name=${status} /> ${plain(name)}</dt>
            <dd>${plain(detail)}${fix !== undefined && html`<br /><${Command} text=${fix} />`}</dd>
          </div>`,
      )}
    </dl>`;
}
