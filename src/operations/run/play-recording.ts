import { setTimeout as delay } from 'node:timers/promises';
import type { RunStore } from '../../core/ports/run-store.ts';
import { atRecordedPace } from './recorded-pace.ts';

/** The longest delay that a timer takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** How a recording is told: `speed` times as fast as it came, or without any wait. `endMs` is when its run ended. */
export type Pace = { speed: number; endMs: number } | 'at-once';

/** Shows the stored events of a run that is over, byte for byte, until nobody looks any more. */
export async function playRecording(
  store: RunStore,
  runId: string,
  pace: Pace,
  signal: AbortSignal,
  show: (lines: Uint8Array) => Promise<'written' | 'closed'>,
): Promise<void> {
  const recorded = store.follow(runId, { wait: false, signal });
  const begunMs = performance.now();
  for await (const { dueMs, lines } of pace === 'at-once'
    ? atOnce(recorded)
    : atRecordedPace(recorded, pace)) {
    await waitUntil(begunMs + dueMs, signal);
    if (signal.aborted || (await show(lines)) === 'closed') return;
  }
}

async function* atOnce(recorded: AsyncIterable<Uint8Array>) {
  for await (const lines of recorded) yield { dueMs: 0, lines };
}

async function waitUntil(dueMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const leftMs = dueMs - performance.now();
    if (leftMs <= 0 || signal.aborted) return;
    // Ended early by the signal, which is looked at above.
    await delay(Math.min(leftMs, MAX_TIMER_MS), undefined, { signal }).catch(() => {});
  }
}
