import { html } from 'htm/preact';
import type { OperationTypes } from '../../src/client/index.ts';
import { useAnswer } from '../connection.ts';
import { Failure } from '../parts/failure.ts';
import { plain } from '../parts/plain-text.ts';
import { State } from '../parts/state.ts';
import { durationText, Time } from '../parts/time.ts';
import { hrefOf } from '../route.ts';

const PAGE_RUNS = 50;
const STATES = ['', 'queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled'];
const FILTERS = ['text', 'tool', 'state', 'caller', 'before'] as const;

type Run = OperationTypes['run.list']['data']['runs'][number];

/** The runs, the newest first; the filters are in the address. */
export function RunsPage({ query }: { query: URLSearchParams }) {
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']));
  const filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const answer = useAnswer('run.list', filters, { limit: PAGE_RUNS });
  const filter = (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    location.hash = hrefOf(
      'runs',
      undefined,
      Object.fromEntries([...form].map(([name, value]) => [name, String(value)])),
    );
  };
  return html`
    <h1>Runs</h1>
    <form class="filters" role="search" key=${JSON.stringify(given)} onSubmit=${filter}>
      <label>Text <input name="text" value=${given['text']} /></label>
      <label>Tool <input name="tool" value=${given['tool']} /></label>
      <label>Caller <input name="caller" value=${given['caller']} /></label>
      <label>State
        <select name="state">
          ${STATES.map((state) => html`<option key=${state} value=${state} selected=${state === given['state']}>${state || 'any'}</option>`)}
        </select>
      </label>
      <button type="submit">Filter</button>
    </form>
    ${answer?.ok === false && html`<${Failure} answer=${answer} />`}
    ${answer?.ok && html`<${RunTable} runs=${answer.data.runs} />`}
    ${answer?.ok && answer.meta.hasMore && html`<p><a href=${hrefOf('runs', undefined, { ...filters, before: answer.data.runs.at(-1)!.run_id })}>Older runs</a></p>`}
  `;
}

export function RunTable({ runs }: { runs: readonly Run[] }) {
  if (runs.length === 0) return html`<p>There are no such runs.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Runs"><table>
    <thead><tr><th scope="col">Run</th><th scope="col">Tool</th><th scope="col">State</th><th scope="col">Started</th><th scope="col">Took</th><th scope="col">What happened</th></tr></thead>
    <tbody>
      ${runs.map(
        (run) => html`<tr key=${run.run_id}>
          <td><a href=${hrefOf('runs', run.run_id)}>${run.run_id}</a></td>
          <td>${plain(run.tool)}</td>
          <td><${State} name=${run.lost ? 'lost' : run.state} /></td>
          <td><${Time} at=${run.created_at} /></td>
          <td>${run.duration_s === null ? '' : durationText(run.duration_s)}</td>
          <td>${plain([run.code, run.message, run.question && `asks ${run.question}`].filter(Boolean).join(' · '))}</td>
        </tr>`,
      )}
    </tbody>
  </table></div>`;
}
