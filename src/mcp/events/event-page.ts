import {
  type Occurrence,
  type OccurrenceName,
  type RunFilter,
  runOccurrences,
} from '../../operations/run/run-occurrences.ts';
import type { OpenHost } from '../host.ts';

/** Between the cursor of a whole look and the last event of a part of it. */
const PART = '~';

/** What a client asks for: whose events, from where on, and at most how old or how many. */
export interface Wanted {
  name: OccurrenceName;
  filter: RunFilter;
  /** Null: from now on. */
  cursor: string | null;
  maxAgeMs?: number | undefined;
  maxEvents: number;
}

/** An event as clients get it. */
export interface EventOccurrence {
  eventId: string;
  name: string;
  timestamp: string;
  data: Record<string, unknown>;
  /** The position after this event. */
  cursor: string;
}

export interface EventPage {
  events: EventOccurrence[];
  cursor: string;
  /** Events were left out, because the cursor or they themselves are too old. */
  truncated: boolean;
  hasMore: boolean;
}

/**
 * The events since a cursor, at most `maxEvents`. The cursor of a part is that of the look before it, with the place of the
 * last event: the next look finds the same events again and leaves out those before that place. Throws E_USAGE for an invalid cursor.
 */
export async function eventPage(
  open: OpenHost,
  { name, filter, cursor, maxAgeMs, maxEvents }: Wanted,
): Promise<EventPage> {
  const [base, place = ''] = cursor === null ? [undefined] : cursor.split(PART, 2);
  const seen = await runOccurrences(open.app, name, filter, base);
  const after = seen.occurrences.filter((each) => placeOf(each) > place);
  const floor = maxAgeMs === undefined ? '' : new Date(Date.now() - maxAgeMs).toISOString();
  const recent = after.filter(({ at }) => at >= floor);
  const part = recent.slice(0, maxEvents);
  const hasMore = part.length < recent.length;
  const cursors = part.map((each) => `${base}${PART}${placeOf(each)}`);
  if (!hasMore) cursors.splice(-1, 1, seen.cursor);
  return {
    events: part.map(({ id, at, data }, index) => {
      return { eventId: id, name, timestamp: at, data, cursor: cursors[index]! };
    }),
    cursor: cursors.at(-1) ?? seen.cursor,
    truncated: seen.isReset || recent.length < after.length,
    hasMore,
  };
}

function placeOf({ at, id }: Occurrence): string {
  return `${at} ${id}`;
}
