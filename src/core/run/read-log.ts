import { RUN_STATES, type RunState } from '../../protocol/run.ts';
import type { FollowOptions, ReadEvent, RunStore } from '../ports/run-store.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { eventsIn } from '../store-files/follow.ts';

/** The events at the end of a log that describe the status of its run. */
export interface LogSummary {
  /** The last `runner_end`, if it is the last event. */
  end: ReadEvent | undefined;
  /** The tool's own ending: result, error or cancelled. */
  ending: ReadEvent | undefined;
  /** The runner's own last report of a failure. */
  failure: ReadEvent | undefined;
  /** What the sandbox may have denied the tool. */
  denial: ReadEvent | undefined;
  lastEvent: ReadEvent | undefined;
}

/** The newest events of a run: whether it still works. */
export interface RecentEvents {
  lastEvent: ReadEvent | undefined;
  progress: ReadEvent | undefined;
}

/** The events with which an attempt begins: those before it belong to another attempt. */
const ATTEMPT_STARTS = ['start', 'runner_start'];
const MAX_WARNINGS = 20;
const MAX_STDERR_LINES = 20;
const MAX_STDERR_CHARS = 1000;
const ENDINGS = ['result', 'error', 'cancelled'];

/** Reads the status of a run from the end of its log; the cost does not depend on the length of the log. */
export async function summariseLog(store: RunStore, runId: string): Promise<LogSummary> {
  const lastEvent = await lastEventOf(store, runId);
  const summary: LogSummary = {
    end: lastEvent?.type === 'runner_end' ? lastEvent : undefined,
    ending: undefined,
    failure: undefined,
    denial: undefined,
    lastEvent,
  };
  for await (const event of store.tail(runId, [
    ...ENDINGS,
    'runner_error',
    'runner_warning',
    ...ATTEMPT_STARTS,
  ])) {
    if (event.type === 'runner_error') summary.failure ??= event;
    if (event.type === 'runner_warning' && Array.isArray(event.denied)) summary.denial ??= event;
    if (ENDINGS.includes(String(event.type))) summary.ending ??= event;
    if (ATTEMPT_STARTS.includes(String(event.type))) break;
  }
  return summary;
}

/** The warnings of the newest attempt of a live run, each once. */
export async function warningsOf(store: RunStore, runId: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const event of store.tail(runId, ['runner_warning', 'runner_start'])) {
    if (event.type !== 'runner_warning' || found.size === MAX_WARNINGS) break;
    found.add(String(event.msg));
  }
  return [...found].reverse();
}

/** The last event of a log; undefined when it is empty. */
export async function lastEventOf(store: RunStore, runId: string): Promise<ReadEvent | undefined> {
  for await (const event of store.tail(runId)) return event;
  return undefined;
}

/** The last progress event of the newest attempt. */
export async function lastProgress(store: RunStore, runId: string): Promise<ReadEvent | undefined> {
  for await (const event of store.tail(runId, ['progress', ...ATTEMPT_STARTS]))
    return event.type === 'progress' ? event : undefined;
  return undefined;
}

/** The last state in a log, with its reason; undefined when the state change is not within the tail. */
export async function lastStateChange(
  tail: AsyncIterable<ReadEvent>,
): Promise<{ to: RunState; reason?: string } | undefined> {
  let seq = 1;
  for await (const event of tail) {
    if (event.type === 'runner_state' && Object.hasOwn(RUN_STATES, String(event.to)))
      return event as { to: RunState; reason?: string };
    seq = Number(event.seq);
  }
  return seq === 1 ? { to: 'queued' } : undefined;
}

/** The artifacts that the last attempt in a log reported. */
export async function recordedArtifacts(store: RunStore, runId: string): Promise<MeasuredArtifact[]> {
  const found: MeasuredArtifact[] = [];
  for await (const event of store.tail(runId, ['artifact', ...ATTEMPT_STARTS])) {
    if (event.type !== 'artifact') break;
    const { v, type, ts, run_id, seq, ...artifact } = event;
    found.unshift(artifact as unknown as MeasuredArtifact);
  }
  return found;
}

/** The last lines of stderr of the newest attempt, oldest first. */
export async function stderrTail(store: RunStore, runId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const event of store.tail(runId, ['diagnostic', ...ATTEMPT_STARTS])) {
    if (event.type !== 'diagnostic') break;
    lines.unshift(
      ...String(event.line)
        .split('\n')
        .map((line) => line.slice(0, MAX_STDERR_CHARS)),
    );
    if (lines.length >= MAX_STDERR_LINES) break;
  }
  return lines.slice(-MAX_STDERR_LINES);
}

/** Follows a run's log and yields its events as objects. */
export async function* readEvents(
  store: RunStore,
  runId: string,
  options: FollowOptions,
): AsyncGenerator<ReadEvent> {
  for await (const lines of store.follow(runId, options)) yield* eventsIn(lines);
}
