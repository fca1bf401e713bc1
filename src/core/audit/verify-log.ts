import type { RunnerEnd, Seal } from '../../protocol/v1/runner-events.ts';
import { parseObject } from '../../util/parse-object.ts';
import type { EnteredRun } from './ledger-chain.ts';
import type { LogBytes } from './log-bytes.ts';
import type { PlaceProblem } from './verify-problem.ts';

/** A line of the log: its number, and the bytes that it takes with its end. */
export interface LogLine {
  number: number;
  from: number;
  to: number;
}

/** An event that ends an attempt, and with it seals what is before it. */
export type EndLine = LogLine & { event: Readonly<Record<string, unknown>> };

/** What the bytes of a log say of themselves. */
export interface CheckedLog {
  events: number;
  last: LogLine | undefined;
  ends: EndLine[];
  /** How many events a seal that holds vouches for. */
  sealedEvents: number;
  /** The bytes of a last line that has no end, when such a line is no fault: it was never acknowledged. */
  tornBytes: number;
  problems: PlaceProblem[];
}

/** Checks the order of the events and every seal. A log that nobody has ended may end in the middle of a line. */
export function checkLog(bytes: LogBytes, options: { mayBeTorn: boolean }): CheckedLog {
  const log = readLines(bytes, options.mayBeTorn);
  for (const end of log.ends) {
    const problem = checkSeal(bytes, end);
    if (problem === undefined) log.sealedEvents = end.number;
    else {
      // All seals after it would tell of the same bytes.
      log.problems.push(problem);
      break;
    }
  }
  return log;
}

/** Holds a log whose seals are whole to what the ledger has of it, which vouches for the last event as well. */
export function checkEntry(bytes: LogBytes, { ends, events }: CheckedLog, entry: EnteredRun): PlaceProblem[] {
  const end = ends.find(({ number }) => number === entry.events);
  if (end === undefined) {
    return [
      {
        problem: `the ledger has an end of this run at event ${entry.events}, and the log has none there`,
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
      report(`seq is ${String(event.seq)} where ${expected} belongs`);
      expected = typeof event.seq === 'number' ? event.seq : expected;
    }
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
  // In the last part it cannot be told whether the bytes differ or the hash that they are held to.
  const to = broken.to > broken.from && broken.to !== seal.bytes ? broken.to : Math.max(seal.bytes, end.to);
  const line = bytes.lineAt(broken.from);
  const problem = `the first byte that differs lies in bytes ${broken.from} to ${to - 1}, from line ${line} on`;
  return { problem, line, from: broken.from, to };
}

/** The seal of a `runner_end`, if it is whole: a tool may have written the event. */
function sealOf(event: Readonly<Record<string, unknown>>): Seal | undefined {
  const { seal } = event as Partial<RunnerEnd>;
  const isWhole =
    typeof seal?.bytes === 'number' && typeof seal.sha256 === 'string' && Array.isArray(seal.marks);
  return isWhole && seal.marks.every((mark) => Array.isArray(mark)) ? seal : undefined;
}
