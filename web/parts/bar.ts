import { html } from 'htm/preact';

/** A part of a whole as a bar; the numbers beside it say the same. `from` and `to` are between 0 and 1. */
export function Bar({ from = 0, to, name = '' }: { from?: number; to: number; name?: string }) {
  const [x, end] = [Math.max(0, from) * 100, Math.min(1, to) * 100];
  return html`<svg class=${`bar bar-${name}`} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect x=${x} y="1" width=${Math.max(0.5, end - x)} height="8" />
  </svg>`;
}
