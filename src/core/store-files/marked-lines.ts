import { parseEvent } from '../../protocol/parse-event.ts';
import type { ReadEvent } from '../ports/run-store.ts';

const LF = 10;

/** The events of some types among whole lines, in order. Only lines that name such a type are parsed. */
export function* eventsOfTypes(
  lines: Buffer,
  types: ReadonlySet<string>,
  order: 'oldest' | 'newest' = 'oldest',
): Generator<ReadEvent> {
  const sign = order === 'oldest' ? 1 : -1;
  for (const start of [...startsOfLinesNaming(lines, types)].sort((a, b) => sign * (a - b))) {
    const event = parseEvent(lines.toString('utf8', start, endOfLine(lines, start))) as ReadEvent;
    if (types.has(String(event.type))) yield event;
  }
}

function startsOfLinesNaming(lines: Buffer, types: ReadonlySet<string>): Set<number> {
  const starts = new Set<number>();
  for (const type of types) {
    const mark = Buffer.from(`"${type}"`);
    for (let at = lines.indexOf(mark); at !== -1; at = lines.indexOf(mark, endOfLine(lines, at)))
      starts.add(lines.lastIndexOf(LF, at) + 1);
  }
  return starts;
}

function endOfLine(lines: Buffer, from: number): number {
  const end = lines.indexOf(LF, from);
  return end === -1 ? lines.length : end;
}
