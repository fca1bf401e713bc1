import { html } from 'htm/preact';
import { useAnswer } from '../connection.ts';
import { Failure } from '../parts/failure.ts';
import { Graph } from '../parts/graph.ts';
import { plain } from '../parts/plain-text.ts';
import { State } from '../parts/state.ts';
import { hrefOf } from '../route.ts';

/** The workflows of the project. */
export function WorkflowsPage() {
  const answer = useAnswer('workflow.list', {}, { concerns: () => false });
  if (answer?.ok === false) return html`<h1>Workflows</h1><${Failure} answer=${answer} />`;
  const workflows = answer?.data.workflows ?? [];
  return html`
    <h1>Workflows</h1>
    ${answer !== undefined && workflows.length === 0 && html`<p>This project has no workflows.</p>`}
    <ul class="list">
      ${workflows.map(
        ({ name, description, steps, problem }) => html`<li key=${name}>
          <a href=${hrefOf('workflows', name)}>${plain(name)}</a> <span class="note">${steps} steps</span>
          <p>${plain(description)}</p>
          ${problem !== null && html`<p class="note">${plain(problem)}</p>`}
        </li>`,
      )}
    </ul>`;
}

/** A workflow as a graph; of a run, with the states of its steps. */
export function WorkflowPage({ workflow, run }: { workflow: string; run: string | undefined }) {
  const answer = useAnswer('workflow.graph', { workflow, ...(run !== undefined && { run }) });
  if (answer === undefined) return html`<h1>${plain(workflow)}</h1>`;
  if (!answer.ok) return html`<h1>${plain(workflow)}</h1><${Failure} answer=${answer} />`;
  const { nodes, edges } = answer.data;
  return html`
    <h1>${plain(workflow)}</h1>
    ${run !== undefined && html`<p>As in <a href=${hrefOf('runs', run)}>${run}</a>.</p>`}
    <${Graph} nodes=${nodes} edges=${edges} />
    <h2>Steps</h2>
    <ol>
      ${nodes.map(
        ({ id, step, does, when, state }) => html`<li key=${id}>
          <strong>${plain(step)}</strong> ${plain(does)} ${when !== null && html`<span class="note">when ${plain(when)}</span>`}
          ${state !== null && html` <${State} name=${state} />`}
        </li>`,
      )}
    </ol>`;
}
