import { setTimeout as delay } from 'node:timers/promises';
import type { RunStore } from '../../core/ports/run-store.ts';

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2_147_483_647;

/** How fast to play a recording: `speed` times as fast as it was recorded, or without any wait. */
type Pace = { speed: number } | 'at-once';

/** Yields the stored events of an ended run, byte for byte, each when it is due, until `signal` aborts. */
export async function* playRecording(
  store: RunStore,
  runId: string,
  pace: Pace,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const recorded = () => store.follow(runId, { wait: false, signal });
  const due =
    pace === 'at-once'
      ? atOnce(recorded())
      : atRecordedPace(recorded(), { ...pace, durations: await durationsIn(recorded()) });
  const begunMs = performance.now();
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

/** How long each supervisor of a run has worked by a clock that is never set, in milliseconds; undefined for one that died. */
type Durations = readonly (number | undefined)[];

const END = Buffer.from('"runner_end"');

/** The durations that a log has at its ends. Other lines are not parsed. */
export async function durationsIn(batches: AsyncIterable<Uint8Array>): Promise<Durations> {
  const durations: (number | undefined)[] = [];
  for await (const batch of batches) {
    const bytes = Buffer.from(batch.buffer, batch.byteOffset, batch.length);
    for (let at = bytes.indexOf(END); at !== -1; ) {
      const next = bytes.indexOf(LF, at) + 1;
      const start = bytes.lastIndexOf(LF, at) + 1;
      const { type, late, duration_s } = fieldsOf(bytes.toString('utf8', start, next));
      const isMeasured = typeof duration_s === 'number' && late !== true;
      if (type === 'runner_end') durations.push(isMeasured ? duration_s * 1000 : undefined);
      at = bytes.indexOf(END, next);
    }
  }
  return durations;
}

/**
 * Computes when each line of a recorded log is due in a replay that is `speed` times as fast as the run; yields lines that are due
 * together in one batch. The pauses are those between the timestamps, within the durations that were measured: the clock of the machine may
 * have been set, and tools write timestamps of their own. The waits in the queue and between two attempts are left out.
 */
export async function* atRecordedPace(
  batches: AsyncIterable<Uint8Array>,
  { speed, durations }: { speed: number; durations: Durations },
): AsyncGenerator<DueLines> {
  const clock = new RecordedClock(durations);
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

/** A supervisor measures its duration a little later than it writes its first event, and a little earlier than its last one. */
const SLACK_MS = 1000;
/** Of a run whose supervisor died nothing was measured, and it may have been recovered days later. */
const MAX_UNMEASURED_MS = 60_000;

/** Sums the time between the events of a run. */
class RecordedClock {
  readonly #durations: (number | undefined)[];
  /** Undefined where a wait is left out. */
  #beforeMs: number | undefined;
  #passedMs = 0;
  /** What had passed when the present supervisor began. */
  #begunMs = 0;

  constructor(durations: Durations) {
    this.#durations = [...durations];
  }

  /** Takes the next line; returns how many milliseconds after the first line it came. */
  take(line: string): number {
    const { ts, type, from } = fieldsOf(line);
    const nowMs = Date.parse(String(ts));
    if (Number.isNaN(nowMs)) return this.#passedMs;
    const leavesQueue = type === 'runner_state' && from === 'queued';
    if (this.#beforeMs !== undefined && !leavesQueue) this.#passedMs += this.#pause(nowMs - this.#beforeMs);
    this.#beforeMs = nowMs;
    if (type === 'runner_end') {
      this.#durations.shift();
      this.#beforeMs = undefined;
      this.#begunMs = this.#passedMs;
    }
    return this.#passedMs;
  }

  /** Longer than the supervisor has worked is only a clock that was set: that is no pause. */
  #pause(sinceMs: number): number {
    if (sinceMs <= 0) return 0;
    const [lengthMs] = this.#durations;
    if (lengthMs === undefined) return Math.min(sinceMs, MAX_UNMEASURED_MS);
    const leftMs = Math.max(0, this.#begunMs + lengthMs - this.#passedMs);
    return sinceMs > lengthMs + SLACK_MS ? 0 : Math.min(sinceMs, leftMs);
  }
}

/** A replay emits every line of the log, also a damaged one, which has no time. */
function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}
