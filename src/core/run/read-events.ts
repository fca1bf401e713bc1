import type { FollowOptions, ReadEvent, RunStore } from '../ports/run-store.ts';
import { eventsIn } from '../store-files/follow.ts';

/** The events of a run's log as objects, from any `seq` on. */
export async function* readEvents(
  store: RunStore,
  runId: string,
  options: FollowOptions,
): AsyncGenerator<ReadEvent> {
  for await (const lines of store.follow(runId, options)) yield* eventsIn(lines);
}
