import type { FollowOptions, ReadEvent, RunStore } from '../ports/run-store.ts';
import { eventsIn } from '../store-files/follow.ts';

/** Follows a run's log and yields its events as objects. */
export async function* readEvents(
  store: RunStore,
  runId: string,
  options: FollowOptions,
): AsyncGenerator<ReadEvent> {
  for await (const lines of store.follow(runId, options)) yield* eventsIn(lines);
}
