import { signal } from '@preact/signals';
import { html } from 'htm/preact';

const TICK_MS = 1000;

/** The ages that a page shows grow while it is open. */
const nowMs = signal(Date.now());
setInterval(() => {
  nowMs.value = Date.now();
}, TICK_MS);

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration in its two largest units. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  let rest = Math.round(seconds);
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? [`${count} ${unit}`] : [];
  });
  return parts.slice(0, 2).join(' ');
}

/** A time, with how long ago it was or how far away it is. */
export function Time({ at }: { at: string }) {
  // What has just happened may be ahead of the last tick.
  const seconds = (Math.max(nowMs.value, Date.now()) - Date.parse(at)) / 1000;
  const text = seconds < 0 ? `in ${durationText(-seconds)}` : `${durationText(seconds)} ago`;
  return html`<time datetime=${at} title=${new Date(at).toLocaleString()}>${text}</time>`;
}
