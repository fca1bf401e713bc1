import { html } from 'htm/preact';
import type { OperationTypes } from '../../src/client/index.ts';
import { about, useAnswer } from '../connection.ts';
import { keyOf, openQuestions } from '../inbox.ts';
import { Command } from '../parts/command.ts';
import { Failure } from '../parts/failure.ts';
import { LogView } from '../parts/log-view.ts';
import { plain } from '../parts/plain-text.ts';
import { QuestionForm } from '../parts/question-form.ts';
import { State } from '../parts/state.ts';
import { Steps } from '../parts/steps.ts';
import { durationText, Time } from '../parts/time.ts';
import { Timeline } from '../parts/timeline.ts';
import { hrefOf } from '../route.ts';
import { RunTable } from './runs.ts';

type Run = OperationTypes['run.show']['data'];

/** Everything about one run: what `acor show` shows, its questions, its log and what can be done. */
export function RunPage({ run, query }: { run: string; query: URLSearchParams }) {
  const answer = useAnswer('run.show', { run }, { concerns: about(run) });
  if (answer === undefined) return html`<h1>${plain(run)}</h1>`;
  if (!answer.ok) return html`<h1>${plain(run)}</h1><${Failure} answer=${answer} />`;
  const shown = answer.data;
  const open = (openQuestions.value ?? []).filter(({ run_id }) => run_id === run);
  // Its form answers a question.
  const steps = (answer.meta.next ?? []).filter(
    ({ command }) => open.length === 0 || !/^acor answer /.test(command),
  );
  return html`
    <h1>${plain(shown.title ?? shown.tool)} <${State} name=${shown.lost ? 'lost' : shown.state} /></h1>
    <p class="note">${run} · ${shown.kind} · started <${Time} at=${shown.created_at} />${shown.duration_s !== null && ` · took ${durationText(shown.duration_s)}`}</p>
    ${open.map(
      (question) => html`<article class="card" key=${keyOf(question)}>
        <h2>${plain(question.question?.msg ?? question.action)}</h2>
        <${QuestionForm} question=${question} />
      </article>`,
    )}
    <${Ending} run=${shown} />
    <h2>What can be done</h2>
    <${Steps} steps=${steps} />
    <${Command} text=${`acor show ${run}`} />
    <${Facts} run=${shown} />
    <${Children} run=${shown} />
    <${Decisions} run=${run} />
    <${Artifacts} run=${shown} />
    <h2>Log</h2>
    <${LogView} run=${run} at=${Number(query.get('seq') ?? 0)} />
  `;
}

/** The result comes first. */
function Ending({ run: { code, message, result, error, stderr, progress } }: { run: Run }) {
  return html`
    ${code !== null && html`<div class="failure"><p><strong>${plain(code)}</strong> ${plain(message ?? '')}</p></div>`}
    ${
      progress !== null &&
      result === null &&
      code === null &&
      html`<p>
      <progress max="100" value=${progress.pct ?? 0} aria-label="Progress"></progress>
      ${plain([progress.pct === null ? '' : `${progress.pct} %`, progress.step, progress.msg].filter(Boolean).join(' · '))}
    </p>`
    }
    ${(result ?? error) !== null && html`<${Json} title=${result === null ? 'Error' : 'Result'} value=${(result ?? error)!['data'] ?? result ?? error} />`}
    ${stderr !== undefined && html`<h2>Last lines of stderr</h2><pre tabindex="0">${plain(stderr.join('\n'))}</pre>`}`;
}

function Json({ title, value }: { title: string; value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return html`<h2>${title}</h2><pre tabindex="0">${plain(text)}</pre>`;
}

function Facts({ run }: { run: Run }) {
  const { backend, enforced, not_enforced } = run.isolation;
  const facts: [string, string | null][] = [
    ['Arguments', run.args.join(' ')],
    ['Folder', run.cwd],
    ['Caller', run.caller],
    ['Attempt', String(run.attempt)],
    [
      'Isolation',
      `${backend}: ${enforced.join(', ')}${not_enforced.length > 0 ? `; not enforced: ${not_enforced.join(', ')}` : ''}`,
    ],
    ['Cost', run.cost_usd === null ? null : `$${run.cost_usd}`],
    ['Used', run.usage === null ? null : JSON.stringify(run.usage)],
    [
      'Exit',
      run.rc === null && run.signal === null
        ? null
        : [run.rc, run.signal].filter((each) => each !== null).join(' '),
    ],
    ['Files', run.dir],
  ];
  return html`<h2>Facts</h2>
    <dl class="facts">
      ${facts
        .filter(([, value]) => value !== null && value !== '')
        .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${plain(value!)}</dd></div>`)}
    </dl>`;
}

function Children({ run }: { run: Run }) {
  const { run_id, kind, tool, parent } = run;
  const isParent = kind === 'workflow' || kind === 'pipe';
  const answer = useAnswer('run.list', { parent: run_id }, { limit: 100 });
  const children = answer?.ok ? answer.data.runs : [];
  return html`
    ${parent !== null && html`<p>Part of <a href=${hrefOf('runs', parent.run_id)}>${parent.run_id}</a>.</p>`}
    ${kind === 'workflow' && html`<p><a href=${hrefOf('workflows', tool.replace(/^workflow:/, ''), { run: run_id })}>Its graph</a></p>`}
    <${Timeline} run=${run} children=${children} />
    ${(isParent || children.length > 0) && html`<h2>Steps</h2><${RunTable} runs=${children} />`}`;
}

function Decisions({ run }: { run: string }) {
  const answer = useAnswer('run.decisions', { run }, { concerns: about(run) });
  const decided = answer?.ok ? answer.data.decisions.filter(({ state }) => state !== 'open') : [];
  if (decided.length === 0) return null;
  return html`<h2>Decisions</h2>
    <ul class="list">
      ${decided.map(
        ({ action_id, action, state, answer, by, reason, answered_at }) => html`<li key=${action_id}>
          <strong>${plain(action)}</strong>: ${state === 'answered' ? html`<code>${plain(JSON.stringify(answer))}</code> by ${plain(by ?? '')}` : 'no answer'}
          ${answered_at !== null && html` <${Time} at=${answered_at} />`}${reason !== null && html` <span class="note">${plain(reason)}</span>`}
        </li>`,
      )}
    </ul>`;
}

function Artifacts({ run: { run_id, artifacts } }: { run: Run }) {
  if (artifacts.length === 0) return null;
  return html`<h2>Artifacts</h2>
    <ul class="list">
      ${artifacts.map(
        ({ path, kind, size, sha256, media_type }, at) => html`<li key=${path}>
          ${kind === 'file' ? html`<a href=${`/api/v1/runs/${run_id}/artifacts/${at + 1}`} download>${plain(path)}</a>` : plain(path)}
          <span class="note"> ${size} bytes · ${plain(media_type)} · sha256 ${sha256.slice(0, 12)}…</span>
        </li>`,
      )}
    </ul>`;
}
