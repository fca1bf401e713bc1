import * as z from 'zod';
import { MARKER_NAMES, MARKER_REACHES } from './markers/marker.ts';
import { MARKER_NAME } from './markers/marker-stream.ts';
import type { Mistake } from './mistake.ts';

/** A marker that a program writes besides those of the protocol. */
export const ownMarker = z.strictObject({
  name: z
    .string()
    .regex(MARKER_NAME, 'must be capitals, digits and _, such as MY_MARKER')
    .describe('The text between the brackets.'),
  reach: z
    .enum(MARKER_REACHES)
    .default('line')
    .describe('Its text: the rest of its line; to a blank line or the next marker; or one paragraph more.'),
});

/** The mistakes in `markers`: those of another adapter, and names that are taken. */
export function* markerMistakes(value: unknown, adapter: unknown): Generator<Mistake> {
  if (!Array.isArray(value)) return;
  if (adapter !== 'markers') {
    const fix = 'Add adapter: markers, or remove markers.';
    yield {
      path: ['markers'],
      rule: 'markers-need-adapter',
      message: "'markers' goes with 'adapter: markers'",
      fix,
    };
  }
  const names = value.map((each) => (each as { name?: unknown } | null)?.name);
  for (const [index, name] of names.entries()) {
    const isTaken = MARKER_NAMES.some((known) => known === name) || names.indexOf(name) < index;
    if (typeof name !== 'string' || !isTaken) continue;
    const message = `the marker '${name}' has a meaning already`;
    yield { path: ['markers', index, 'name'], rule: 'duplicate-name', message, fix: 'Choose another name.' };
  }
}
