import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { plain } from './plain-text.ts';

/** A command to copy. */
export function Command({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return html`<span class="command">
    <code>${plain(text)}</code>
    <button type="button" class="quiet" aria-label=${`Copy the command ${plain(text)}`} onClick=${copy}>
      ${isCopied ? 'Copied' : 'Copy'}
    </button>
  </span>`;
}
