import { html } from 'htm/preact';
import type { FailedAnswer } from '../../src/client/index.ts';
import { plain } from './plain-text.ts';
import { Steps } from './steps.ts';

/** The error of an answer, with what to do. */
export function Failure({ answer: { error, meta } }: { answer: FailedAnswer }) {
  return html`
    <div class="failure" role="alert">
      <p><strong>${error.code}</strong> ${plain(error.message)}</p>
      ${error.hint !== '' && html`<p>${plain(error.hint)}</p>`}
      <${Steps} steps=${meta.next ?? []} />
    </div>`;
}
