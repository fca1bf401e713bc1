import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { RUN_STATES, type RunState } from '../../protocol/run-state.ts';
import type { MeasuredArtifact } from './artifacts.ts';
import { storageError } from './storage-error.ts';

type Event = Readonly<Record<string, unknown>>;

const TAIL_BYTES = 1 << 21;

/** The last events of a log that tell where a run stands. */
export interface LogSummary {
  /** The last `runner_end`, if it is the last event. */
  end: Event | undefined;
  /** The tool's own ending: result, error or cancelled. */
  ending: Event | undefined;
  /** The runner's own last word on a failure. */
  failure: Event | undefined;
  /** What the sandbox may have refused it. */
  denial: Event | undefined;
  progress: Event | undefined;
  lastEvent: Event | undefined;
}

/** Reads where a run stands from the end of its log, however long that is. */
export function summariseLog(path: string): LogSummary {
  const summary: LogSummary = {
    end: undefined,
    ending: undefined,
    failure: undefined,
    denial: undefined,
    progress: undefined,
    lastEvent: undefined,
  };
  for (const event of lastEvents(path)) {
    summary.lastEvent ??= event;
    if (event.type === 'runner_end' && event === summary.lastEvent) summary.end = event;
    if (event.type === 'runner_error') summary.failure ??= event;
    if (event.type === 'runner_warning' && Array.isArray(event.denied)) summary.denial ??= event;
    if (event.type === 'progress') summary.progress ??= event;
    if (event.type === 'result' || event.type === 'error' || event.type === 'cancelled')
      summary.ending ??= event;
    // What came before the start of this attempt is another attempt's.
    if (event.type === 'start' || event.type === 'runner_start') break;
  }
  return summary;
}

/** The state that a log leaves its run in, and the reason it gives; undefined when the change lies too far back to be looked for. */
export function lastStateChange(path: string): { to: RunState; reason?: string } | undefined {
  let seq = 1;
  for (const event of lastEvents(path)) {
    if (event.type === 'runner_state' && Object.hasOwn(RUN_STATES, String(event.to)))
      return event as { to: RunState; reason?: string };
    seq = Number(event.seq);
  }
  return seq === 1 ? { to: 'queued' } : undefined;
}

/** The artifacts that the last attempt in a log has told of. */
export function recordedArtifacts(path: string): MeasuredArtifact[] {
  const found: MeasuredArtifact[] = [];
  for (const event of lastEvents(path)) {
    if (event.type === 'start' || event.type === 'runner_start') break;
    if (event.type !== 'artifact') continue;
    const { v, type, ts, run_id, seq, ...artifact } = event;
    found.unshift(artifact as unknown as MeasuredArtifact);
  }
  return found;
}

function openLog(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw storageError(error, 'read the event log', path);
  }
}

/** The events of the last part of a log, the last one first. A torn last line is left out. */
function* lastEvents(path: string): Generator<Event> {
  const fd = openLog(path);
  try {
    const size = fstatSync(fd).size;
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    for (let end = tail.lastIndexOf(10); end > 0; ) {
      const start = tail.lastIndexOf(10, end - 1) + 1;
      if (start === 0 && tail.length < size) return;
      yield JSON.parse(tail.toString('utf8', start, end));
      end = start - 1;
    }
  } finally {
    closeSync(fd);
  }
}
