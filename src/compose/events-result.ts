import { drain } from '../util/streams.ts';
import type { EventsResult, StreamEnd } from './operation.ts';

/**
 * The result of an operation that follows events: `lines` yields the events and returns the outcome, `left` is the
 * outcome for a reader that stopped early, and `end` converts the outcome to the final answer. For a caller that reads
 * no events, they are consumed unread, or `unread` in their place.
 */
export function eventsResult<E, T>(
  lines: AsyncGenerator<Uint8Array, E>,
  options: {
    stream: boolean;
    about?: () => Promise<unknown>;
    /** What a caller that reads no events waits for, where that is not the end of the events. */
    unread?: AsyncGenerator<Uint8Array, E> | undefined;
    left: E;
    end(how: E): Promise<StreamEnd<T>>;
  },
): EventsResult<T> {
  const { stream, about, unread = lines, left, end } = options;
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
    how ??= { value: await drain(unread) };
    return end(how.value);
  }
}
