import type { RunRecord } from '../../../protocol/run-record.ts';
import { newSha256 } from '../../../util/sha256.ts';
import type { ReadEvent, RunStore } from '../../ports/run-store.ts';
import { eventsIn } from '../../store-files/follow.ts';
import { ATTRIBUTES, OPERATIONS, SPAN_NAMES } from './conventions.ts';

type Value = string | number;

/** A span; times are RFC 3339. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  /** What other systems keep with the trace. */
  traceState: string | null;
  name: string;
  start: string;
  end: string;
  attributes: Readonly<Record<string, Value | null | undefined>>;
  /** Why it failed; null when it did not. */
  error: string | null;
}

/** The events from which spans are made. The others are not parsed, so that a long log costs only its reading. */
const TYPES = ['runner_start', 'runner_state', 'runner_warning', 'action_answered', 'runner_end'];
const SIGNS = TYPES.map((type) => `"${type}"`);

/**
 * The spans of an ended run, of what its supervisors did after the event `since`: for each of them the run, its attempts, and its waiting for answers;
 * none where the caller does not record its trace. A run whose supervisor was killed, and that was resumed before its spans were sent, has two. The runs of workflow steps are children by their own parent span. The same log makes the same ids, so
 * that a collector that gets them twice has them once.
 */
export async function spansOf(store: RunStore, record: RunRecord, since: number): Promise<Span[]> {
  const events = await eventsAfter(store, record.run_id, since);
  return supervisionsIn(events).flatMap((own, at, all) => {
    const [start] = own;
    const end = own.findLast(({ type }) => type === 'runner_end');
    if (start === undefined || end === undefined || start.sampled === false) return [];
    const run = runSpan(record, start, end, { isLast: at === all.length - 1 });
    return [run, ...attemptSpans(run, own, start, end), ...waitingSpans(run, own)];
  });
}

/** The events from each start of a supervisor to the next one. */
function supervisionsIn(events: readonly ReadEvent[]): ReadEvent[][] {
  const starts = events.flatMap(({ type }, at) => (type === 'runner_start' ? [at] : []));
  return starts.map((from, at) => events.slice(from, starts[at + 1]));
}

async function eventsAfter(store: RunStore, runId: string, since: number): Promise<ReadEvent[]> {
  const found: ReadEvent[] = [];
  for await (const lines of store.follow(runId, { since, wait: false })) {
    const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
    if (!SIGNS.some((sign) => bytes.includes(sign))) continue;
    found.push(...eventsIn(lines).filter(({ type }) => TYPES.includes(String(type))));
  }
  return found;
}

/** The cost in the record is that of the last supervisor. */
function runSpan(record: RunRecord, start: ReadEvent, end: ReadEvent, { isLast }: { isLast: boolean }): Span {
  const { kind, tool } = record;
  const cost = isLast ? record.cost : undefined;
  const operation = OPERATIONS[kind];
  const failed = end.state === 'failed';
  return {
    traceId: String(start.trace_id ?? record.trace_id),
    spanId: String(start.span_id ?? record.span_id),
    parentSpanId: typeof start.parent_span_id === 'string' ? start.parent_span_id : null,
    traceState: typeof start.trace_state === 'string' ? start.trace_state : null,
    name: `${operation} ${tool}`,
    start: String(start.ts),
    end: String(end.ts),
    attributes: {
      [ATTRIBUTES.genAiOperation]: operation,
      [kind === 'task' ? ATTRIBUTES.agentName : ATTRIBUTES.toolName]: tool,
      [ATTRIBUTES.runId]: record.run_id,
      [ATTRIBUTES.kind]: kind,
      [ATTRIBUTES.state]: String(end.state),
      [ATTRIBUTES.caller]: record.caller,
      [ATTRIBUTES.taskId]: record.parent?.task_id,
      [ATTRIBUTES.exitCode]: typeof end.rc === 'number' ? end.rc : null,
      [ATTRIBUTES.errorType]: failed ? String(end.code) : null,
      [ATTRIBUTES.events]: Number(end.events),
      [ATTRIBUTES.inputTokens]: cost?.input_tokens,
      [ATTRIBUTES.outputTokens]: cost?.output_tokens,
      [ATTRIBUTES.model]: cost?.model,
      [ATTRIBUTES.costUsd]: cost?.usd,
    },
    error: failed ? String(end.message ?? (isLast ? record.message : null) ?? end.code) : null,
  };
}

/** A retry is a warning with the number of the attempt that has failed, and the pause before the next one. */
function attemptSpans(run: Span, events: readonly ReadEvent[], start: ReadEvent, end: ReadEvent): Span[] {
  const begun = events.find(({ type, to }) => type === 'runner_state' && to === 'running');
  if (begun === undefined) return [];
  const spans: Span[] = [];
  let from = String(begun.ts);
  let number = Number(start.attempt);
  for (const event of events) {
    if (event.type !== 'runner_warning' || typeof event.retry_in_s !== 'number') continue;
    const error = { [ATTRIBUTES.errorType]: typeof event.code === 'string' ? event.code : null };
    spans.push(attempt(String(event.ts), error, String(event.msg)));
    from = new Date(Date.parse(String(event.ts)) + event.retry_in_s * 1000).toISOString();
    number++;
  }
  const last = { [ATTRIBUTES.errorType]: run.attributes[ATTRIBUTES.errorType] };
  return [...spans, attempt(String(end.ts), last, run.error)];

  function attempt(until: string, more: Span['attributes'], error: string | null): Span {
    const attributes = { [ATTRIBUTES.attempt]: number, ...more };
    return child(run, {
      name: SPAN_NAMES.attempt,
      key: `attempt ${number}`,
      start: from,
      end: until,
      attributes,
      error,
    });
  }
}

/** From each change to `waiting_ai` to the next change. */
function waitingSpans(run: Span, events: readonly ReadEvent[]): Span[] {
  const changes = events.filter(({ type }) => type === 'runner_state');
  return changes.flatMap((change, at) => {
    const next = changes[at + 1];
    if (change.to !== 'waiting_ai' || next === undefined) return [];
    const answer = events.find(
      ({ type, action_id, seq }) =>
        type === 'action_answered' && action_id === change.action_id && Number(seq) > Number(change.seq),
    );
    const attributes = {
      [ATTRIBUTES.action]: String(change.reason),
      [ATTRIBUTES.actionId]: String(change.action_id),
      [ATTRIBUTES.answeredBy]: typeof answer?.by === 'string' ? answer.by : null,
    };
    const [start, end] = [String(change.ts), String(next.ts)];
    return child(run, {
      name: SPAN_NAMES.waiting,
      key: `wait ${change.seq}`,
      start,
      end,
      attributes,
      error: null,
    });
  });
}

function child(
  { traceId, traceState, spanId: parentSpanId }: Span,
  { key, ...span }: Omit<Span, 'traceId' | 'traceState' | 'spanId' | 'parentSpanId'> & { key: string },
): Span {
  const spanId = newSha256().update(`${parentSpanId} ${key}`).digest('hex').slice(0, 16);
  return { traceId, traceState, spanId, parentSpanId, ...span };
}
