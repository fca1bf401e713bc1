import { LineReader } from '../protocol/jsonl.ts';

const LF = 10;

type Event = Readonly<Record<string, unknown>>;

/** The events of some types in a batch of lines. Most batches of a busy tool contain none, and are not parsed. */
export function eventsIn(lines: Uint8Array, types: readonly string[]): Event[] {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  if (!types.some((type) => bytes.includes(`"${type}"`))) return [];
  const events: Event[] = [];
  const reader = new LineReader((_, start, end) => {
    const event: Event = JSON.parse(bytes.toString('utf8', start, end));
    if (types.includes(String(event.type))) events.push(event);
  }, lines.length);
  reader.push(bytes);
  return events;
}

/** How many events there are in a batch of whole lines. */
export function countLines(lines: Uint8Array): number {
  let count = 0;
  for (let at = lines.indexOf(LF); at !== -1; at = lines.indexOf(LF, at + 1)) count++;
  return count;
}
