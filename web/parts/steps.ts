import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { FailedAnswer, NextRequest, OperationTypes } from '../../src/client/index.ts';
import { client } from '../connection.ts';
import { Command } from './command.ts';
import { Failure } from './failure.ts';

/** Next steps: each with a button where the server allows it, and with its command to copy. */
export function Steps({ steps }: { steps: readonly NextRequest[] }) {
  if (steps.length === 0) return null;
  return html`<ul class="steps">
    ${steps.map((step) => html`<li key=${step.command}><${Step} step=${step} /></li>`)}
  </ul>`;
}

function Step({ step: { path, body, command, why } }: { step: NextRequest }) {
  const [failed, setFailed] = useState<FailedAnswer>();
  const [isBusy, setBusy] = useState(false);
  const operation = path?.split('/').at(-1) as keyof OperationTypes | undefined;
  const run = async () => {
    setBusy(true);
    const answer = await client
      .call(operation!, { ...body, ...detached(operation!) } as never)
      .catch(() => undefined);
    setBusy(false);
    setFailed(answer?.ok === false ? answer : undefined);
  };
  // The page shows what reading would give.
  const isAction = operation !== undefined && !READING.has(operation);
  return html`
    ${isAction && html`<button type="button" disabled=${isBusy} onClick=${run}>${why}</button>`}
    ${!isAction && html`<span>${why}</span>`}
    <${Command} text=${command} />
    ${failed !== undefined && html`<${Failure} answer=${failed} />`}`;
}

const READING: ReadonlySet<string> = new Set([
  'run.attach',
  'run.logs',
  'run.show',
  'run.wait',
  'run.decisions',
  'run.artifacts',
  'run.list',
  'tool.list',
  'tool.describe',
  'system.health',
] satisfies (keyof OperationTypes)[]);

const DETACHABLE: ReadonlySet<string> = new Set([
  'run.start',
  'run.resume',
  'run.retry',
  'workflow.run',
  'workflow.resume',
] satisfies (keyof OperationTypes)[]);

/** A page does not wait for the end of a run. */
export function detached(operation: string): { detach?: true } {
  return DETACHABLE.has(operation) ? { detach: true } : {};
}
