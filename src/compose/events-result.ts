import { drain } from '../util/drain.ts';
import type { EventsResult, StreamEnd } from './operation.ts';

/**
 * The result of an operation that follows something: `lines` yields the events and returns how the following ended, `left` stands for
 * a reader that stopped before that, and `end` says what the end means. A caller that reads no events has them followed unread.
 */
export function eventsResult<E, T>(
  lines: AsyncGenerator<Uint8Array, E>,
  options: { stream: boolean; about?: () => Promise<unknown>; left: E; end(how: E): Promise<StreamEnd<T>> },
): EventsResult<T> {
  const { stream, about, left, end } = options;
  let how: { value: E } | undefined;
  let ended: Promise<StreamEnd<T>> | undefined;
  return {
    kind: 'events',
    events: read(),
    stream,
    ...(about && { about }),
    ended: () => (ended ??= settle()),
  };

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      how = { value: yield* lines };
    } finally {
      how ??= { value: left };
    }
  }

  async function settle(): Promise<StreamEnd<T>> {
    how ??= { value: await drain(lines) };
    return end(how.value);
  }
}
