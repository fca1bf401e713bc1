import { html } from 'htm/preact';

/** The state of a run, of a step or of a check: in words, and by colour. */
export function State({ name }: { name: string }) {
  return html`<span class=${`state state-${name}`}>${name.replace('_ai', '')}</span>`;
}
