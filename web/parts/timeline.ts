import { html } from 'htm/preact';
import type { OperationTypes } from '../../src/client/index.ts';
import { about, useAnswer } from '../connection.ts';
import { hrefOf } from '../route.ts';
import { Bar } from './bar.ts';
import { plain } from './plain-text.ts';
import { State } from './state.ts';
import { durationText } from './time.ts';

type Run = OperationTypes['run.show']['data'];
type Child = OperationTypes['run.list']['data']['runs'][number];

interface Part {
  name: unknown;
  state: string;
  fromMs: number;
  toMs: number;
}

const MAX_STATES = 100;

/** The states of a run, its attempts and its children on one scale. */
export function Timeline({ run, children }: { run: Run; children: readonly Child[] }) {
  const { run_id } = run;
  const type = ['runner_start', 'runner_state', 'runner_warning', 'runner_end'];
  const answer = useAnswer('run.logs', { run: run_id, type }, { concerns: about(run_id), limit: MAX_STATES });
  if (!answer?.ok) return null;
  const startMs = Date.parse(run.created_at);
  const endMs = Math.max(run.ended_at === null ? Date.now() : Date.parse(run.ended_at), startMs + 1);
  const parts = [
    ...statesIn(answer.data.events, startMs, endMs),
    ...children.map((child) => partOf(child, endMs)),
  ];
  const place = (ms: number) => (ms - startMs) / (endMs - startMs);
  return html`<h2>Timeline</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Timeline"><table class="timeline">
      <thead><tr><th scope="col">What</th><th scope="col">State</th><th scope="col">After</th><th scope="col">Took</th><th scope="col"><span class="note">${durationText((endMs - startMs) / 1000)}</span></th></tr></thead>
      <tbody>
        ${parts.map(
          ({ name, state, fromMs, toMs }, at) => html`<tr key=${at}>
            <td>${name}</td>
            <td><${State} name=${state} /></td>
            <td>${durationText(Math.max(0, fromMs - startMs) / 1000)}</td>
            <td>${durationText((toMs - fromMs) / 1000)}</td>
            <td><${Bar} from=${place(fromMs)} to=${place(toMs)} name=${state} /></td>
          </tr>`,
        )}
      </tbody>
    </table></div>`;
}

/** A state lasts until the next change. A retry is a warning with the pause before the next attempt. */
function statesIn(events: readonly Record<string, unknown>[], startMs: number, endMs: number): Part[] {
  const parts: Part[] = [];
  let attempt = 1;
  let open: Part | undefined = { name: 'waits for a slot', state: 'queued', fromMs: startMs, toMs: endMs };
  const close = (toMs: number) => {
    if (open !== undefined && toMs > open.fromMs) parts.push({ ...open, toMs });
  };
  for (const event of events) {
    const atMs = Date.parse(String(event['ts']));
    if (event['type'] === 'runner_start') attempt = Number(event['attempt']);
    else if (event['type'] === 'runner_end') {
      close(atMs);
      open = undefined;
    } else if (typeof event['retry_in_s'] === 'number') {
      close(atMs);
      attempt++;
      open = {
        name: `attempt ${attempt}`,
        state: 'running',
        fromMs: atMs + event['retry_in_s'] * 1000,
        toMs: endMs,
      };
    } else if (event['type'] === 'runner_state') {
      close(atMs);
      const to = String(event['to']);
      const name =
        to === 'waiting_ai' ? plain(`asks ${String(event['reason'] ?? '')}`) : `attempt ${attempt}`;
      open = ['running', 'waiting_ai', 'queued'].includes(to)
        ? { name, state: to, fromMs: atMs, toMs: endMs }
        : undefined;
    }
  }
  close(endMs);
  return parts;
}

function partOf({ run_id, tool, state, created_at, duration_s }: Child, endMs: number): Part {
  const fromMs = Date.parse(created_at);
  const toMs = duration_s === null ? endMs : fromMs + duration_s * 1000;
  return { name: html`<a href=${hrefOf('runs', run_id)}>${plain(tool)}</a>`, state, fromMs, toMs };
}
