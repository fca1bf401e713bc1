import { setTimeout as delay } from 'node:timers/promises';
import type { RunStore } from '../../core/ports/run-store.ts';

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2_147_483_647;

/** How fast to play a recording: `speed` times as fast as it was recorded, or without any wait. `endMs` is when its run ended. */
type Pace = { speed: number; endMs: number } | 'at-once';

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

/** Lines of an event log, and when they are due, in milliseconds after the first one. */
interface DueLines {
  dueMs: number;
  lines: Uint8Array;
}

const LF = 10;

/**
 * Computes when each line of a recorded log is due in a replay that is `speed` times as fast as the run; yields lines that are due
 * together in one batch. A clock that went back adds no wait, and neither does the pause between two attempts. `endMs` is when the run
 * ended: tools write their own timestamps, and none of them may make the replay longer than the run.
 */
export async function* atRecordedPace(
  batches: AsyncIterable<Uint8Array>,
  { speed, endMs }: { speed: number; endMs: number },
): AsyncGenerator<DueLines> {
  const clock = new RecordedClock(endMs);
  for await (const batch of batches) {
    const bytes = Buffer.from(batch.buffer, batch.byteOffset, batch.length);
    let from = 0;
    let dueMs: number | undefined;
    for (let start = 0; start < bytes.length; ) {
      const next = bytes.indexOf(LF, start) + 1;
      const lineDueMs = clock.take(bytes.toString('utf8', start, next)) / speed;
      if (dueMs !== undefined && lineDueMs !== dueMs) {
        yield { dueMs, lines: bytes.subarray(from, start) };
        from = start;
      }
      dueMs = lineDueMs;
      start = next;
    }
    if (dueMs !== undefined) yield { dueMs, lines: bytes.subarray(from) };
  }
}

/** Sums the time between the events of a run. */
class RecordedClock {
  readonly #endMs: number;
  #limitMs: number | undefined;
  #beforeMs: number | undefined;
  #passedMs = 0;
  #isOver = false;

  constructor(endMs: number) {
    this.#endMs = endMs;
  }

  /** Takes the next line; returns how many milliseconds after the first line it came. */
  take(line: string): number {
    const { ts, type } = fieldsOf(line);
    const nowMs = Date.parse(String(ts));
    if (Number.isNaN(nowMs)) return this.#passedMs;
    this.#limitMs ??= Math.max(0, this.#endMs - nowMs);
    const since = this.#isOver || this.#beforeMs === undefined ? 0 : Math.max(0, nowMs - this.#beforeMs);
    this.#passedMs = Math.min(this.#passedMs + since, this.#limitMs);
    this.#beforeMs = nowMs;
    this.#isOver = type === 'runner_end';
    return this.#passedMs;
  }
}

/** A replay emits every line of the log, also a damaged one, which has no time. */
function fieldsOf(line: string): { ts?: unknown; type?: unknown } {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}
