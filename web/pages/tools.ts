import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { FailedAnswer } from '../../src/client/index.ts';
import { client, useAnswer } from '../connection.ts';
import { Command } from '../parts/command.ts';
import { Failure } from '../parts/failure.ts';
import { plain } from '../parts/plain-text.ts';
import { isRecord, type Schema, SchemaField } from '../parts/schema-field.ts';
import { State } from '../parts/state.ts';
import { hrefOf } from '../route.ts';

const NEVER = { concerns: () => false };

/** The tools of the project. */
export function ToolsPage() {
  const answer = useAnswer('tool.list', {}, NEVER);
  if (answer?.ok === false) return html`<h1>Tools</h1><${Failure} answer=${answer} />`;
  const tools = answer?.data.tools ?? [];
  return html`
    <h1>Tools</h1>
    ${answer !== undefined && tools.length === 0 && html`<p>This project has no tools.</p>`}
    <ul class="list">
      ${tools.map(
        ({ name, version, description, status, level, problems }) => html`<li key=${name}>
          <a href=${hrefOf('tools', name)}>${plain(name)}</a> <span class="note">${plain(version)} · ${level}</span>
          ${status === 'broken' && html` <${State} name="failed" />`}
          <p>${plain(description)}</p>
          ${problems.map((problem) => html`<p key=${problem} class="note">${plain(problem)}</p>`)}
        </li>`,
      )}
    </ul>`;
}

interface Described {
  description?: unknown;
  usage?: unknown;
  inputs?: unknown;
  permissions?: unknown;
}

/** A tool, with a form that runs it. */
export function ToolPage({ tool }: { tool: string }) {
  const answer = useAnswer('tool.describe', { tool }, NEVER);
  if (answer === undefined) return html`<h1>${plain(tool)}</h1>`;
  if (!answer.ok) return html`<h1>${plain(tool)}</h1><${Failure} answer=${answer} />`;
  const { description, usage, inputs, permissions } = answer.data as Described;
  return html`
    <h1>${plain(tool)}</h1>
    <p>${plain(String(description ?? ''))}</p>
    ${typeof usage === 'string' && html`<${Command} text=${usage} />`}
    <h2>Try it</h2>
    <${TryForm} tool=${tool} schema=${schemaOf(inputs)} />
    <h2>Permissions</h2>
    <pre tabindex="0">${plain(JSON.stringify(permissions, null, 2))}</pre>`;
}

function TryForm({ tool, schema }: { tool: string; schema: Schema }) {
  const [values, setValues] = useState<unknown>({});
  const [failed, setFailed] = useState<FailedAnswer>();
  const run = async (event: Event) => {
    event.preventDefault();
    const args = ['--input-json', JSON.stringify(values)];
    const answer = await client.call('run.start', { tool, args, detach: true }).catch(() => undefined);
    if (answer?.ok && 'run_id' in answer.data) location.hash = hrefOf('runs', answer.data.run_id);
    else if (answer?.ok === false) setFailed(answer);
  };
  return html`<form onSubmit=${run}>
    <${SchemaField} name="input" label="Inputs" schema=${schema} isRequired=${false} value=${values} onChange=${setValues} />
    <button type="submit">Run</button>
    ${failed !== undefined && html`<${Failure} answer=${failed} />`}
  </form>`;
}

const TYPES: Readonly<Record<string, string>> = {
  int: 'integer',
  number: 'number',
  bool: 'boolean',
  json: 'any',
};

/** The declared inputs as the schema of an object. */
function schemaOf(inputs: unknown): Schema {
  const declared = Array.isArray(inputs) ? inputs.filter(isRecord) : [];
  const properties = declared.map((input) => {
    const type = TYPES[String(input['type'])] ?? 'string';
    const { description, enum: values, secret, multiple } = input;
    const one = { type: multiple === true ? 'array' : type, description, enum: values, writeOnly: secret };
    return [String(input['name']), one];
  });
  const required = declared.filter((input) => input['required'] === true).map((input) => input['name']);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}
