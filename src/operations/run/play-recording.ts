import { setTimeout as delay } from 'node:timers/promises';
import type { RunStore } from '../../core/ports/run-store.ts';
import { atRecordedPace } from './recorded-pace.ts';

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2_147_483_647;

/** How fast to play a recording: `speed` times as fast as it was recorded, or without any wait. `endMs` is when its run ended. */
export type Pace = { speed: number; endMs: number } | 'at-once';

/** Yields the stored events of an ended run, byte for byte, each when it is due, until `signal` aborts. */
export async function* playRecording(
  store: RunStore,
  runId: string,
  pace: Pace,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const recorded = store.follow(runId, { wait: false, signal });
  const begunMs = performance.now();
  const due = pace === 'at-once' ? atOnce(recorded) : atRecordedPace(recorded, pace);
  for await (const { dueMs, lines } of due) {
    await waitUntil(begunMs + dueMs, signal);
    if (signal.aborted) return;
    yield lines;
  }
}

async function* atOnce(recorded: AsyncIterable<Uint8Array>) {
  for await (const lines of recorded) yield { dueMs: 0, lines };
}

async function waitUntil(dueMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const leftMs = dueMs - performance.now();
    if (leftMs <= 0 || signal.aborted) return;
    // An abort ends the wait early; the loop checks for it.
    await delay(Math.min(leftMs, MAX_TIMER_MS), undefined, { signal }).catch(() => {});
  }
}
