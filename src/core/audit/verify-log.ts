import type { RunnerEnd, Seal } from '../../protocol/v1/runner-events.ts';
import { parseObject } from '../../util/parse-object.ts';
import type { EnteredEnd } from './entered-runs.ts';
import type { LogBytes } from './log-bytes.ts';
import type { PlaceProblem } from './verify-problem.ts';

/** A line of the log: its number, and its byte range including the newline. */
export interface LogLine {
  number: number;
  from: number;
  to: number;
}

/** A `runner_end`, which seals the events before it. */
export type EndLine = LogLine & { event: Readonly<Record<string, unknown>> };

/** The result of checking a log by its own seals. */
export interface CheckedLog {
  events: number;
  last: LogLine | undefined;
  ends: EndLine[];
  /** The `runner_start` of the first start. Undefined when it could not be written: a resume has a trace of its own. */
  start: Readonly<Record<string, unknown>> | undefined;
  /** The number of events that a valid seal covers. */
  sealedEvents: number;
  /** The size of a torn last line, when such a line is allowed: it was never acknowledged. */
  tornBytes: number;
  problems: PlaceProblem[];
}

/** Checks the order of the events and every seal. The log of a run that has not ended may have a torn last line. */
export function checkLog(bytes: LogBytes, options: { mayBeTorn: boolean }): CheckedLog {
  const log = readLines(bytes, options.mayBeTorn);
  for (const end of log.ends) {
    const problem = checkSeal(bytes, end);
    if (problem === undefined) log.sealedEvents = end.number;
    else {
      // Every later seal covers the same bytes and would report the same change.
      log.problems.push(problem);
      break;
    }
  }
  return log;
}

/** Whether the last event is an end, whose seal covers all events before it. */
export function isSealed({ ends, events }: CheckedLog): boolean {
  return events > 0 && ends.at(-1)?.number === events;
}

/** Compares a log with valid seals to its ledger line, which also covers the last event. */
export function checkEntry(bytes: LogBytes, { ends, events }: CheckedLog, entry: EnteredEnd): PlaceProblem[] {
  const end = ends.find(({ number }) => number === entry.events);
  if (end === undefined) {
    return [
      {
        problem: `the ledger has an end of this run at event ${entry.events}, but that event is not the end of a run`,
        line: Math.min(entry.events, events + 1),
        from: 0,
        to: bytes.size,
      },
    ];
  }
  if (bytes.sha256(end.to) === entry.sha256) return [];
  const problem = 'the event that ends the run is not the one that was entered in the ledger';
  return [{ problem, line: end.number, from: end.from, to: end.to }];
}

function readLines(bytes: LogBytes, mayBeTorn: boolean): CheckedLog {
  const log: CheckedLog = {
    events: 0,
    last: undefined,
    ends: [],
    start: undefined,
    sealedEvents: 0,
    tornBytes: 0,
    problems: [],
  };
  let expected = 1;
  for (const { text, from, to, hasEnd } of bytes.lines()) {
    const line = { number: log.events + 1, from, to };
    const report = (problem: string) => log.problems.push({ problem, line: line.number, from, to });
    if (!hasEnd) {
      if (mayBeTorn) log.tornBytes = to - from;
      else report('the last line has no end: it was cut short');
      break;
    }
    log.events = line.number;
    log.last = line;
    const event = parseObject(text.toString('utf8'));
    if (event === undefined) report('the line is not a JSON object');
    else if (event.seq !== expected) {
      report(`expected seq ${expected}, got ${String(event.seq)}`);
      expected = typeof event.seq === 'number' ? event.seq : expected;
    }
    if (event?.type === 'runner_start' && event.seq === 1) log.start = event;
    if (event?.type === 'runner_end') log.ends.push({ ...line, event });
    expected++;
  }
  return log;
}

function checkSeal(bytes: LogBytes, end: EndLine): PlaceProblem | undefined {
  const place = { line: end.number, from: end.from, to: end.to };
  const seal = sealOf(end.event);
  if (seal === undefined)
    return { problem: 'the event that ends the run has no seal: the runner did not write it', ...place };
  const broken = bytes.brokenMark(end.from, seal);
  if (broken === undefined) return undefined;
  if (end.from === seal.bytes && bytes.sha256(end.from) === seal.sha256)
    return { problem: 'the seal in the event that ends the run was changed', ...place };
  // In the last part, either the bytes or the recorded hash may have changed.
  const to = broken.to > broken.from && broken.to !== seal.bytes ? broken.to : Math.max(seal.bytes, end.to);
  const line = bytes.lineAt(broken.from);
  const problem = `the first changed byte is in bytes ${broken.from} to ${to - 1}, from line ${line} on`;
  return { problem, line, from: broken.from, to };
}

/** The seal of a `runner_end`, if it is well-formed: a tool may have written the event. */
function sealOf(event: Readonly<Record<string, unknown>>): Seal | undefined {
  const { seal } = event as Partial<RunnerEnd>;
  const isWhole =
    typeof seal?.bytes === 'number' && typeof seal.sha256 === 'string' && Array.isArray(seal.marks);
  return isWhole && seal.marks.every((mark) => Array.isArray(mark)) ? seal : undefined;
}

/** When a run ended, in milliseconds. */
export function timeOf({ event }: EndLine): number {
  return Date.parse(String(event.ts));
}
