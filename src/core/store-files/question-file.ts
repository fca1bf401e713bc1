import { appendFileSync, readFileSync } from 'node:fs';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/remove-if-possible.ts';
import type { ReadEvent } from '../ports/run-store.ts';
import { eventsIn, wholeLines } from './follow.ts';
import { isQuestion, questionEventsIn } from './question-events.ts';
import { storageError } from './storage-error.ts';
import { lastBytes } from './tail.ts';

/** More than one batch of a log: the file may be behind the log by the batch that is being stored. */
const LAG_BYTES = 1 << 19;

/**
 * `questions.jsonl` beside a run's log: the events from its first question on that concern questions, so that they are found
 * without reading the log. It is derived: the log is written first, and a file that is missing is rebuilt from the log.
 */
export class QuestionFile {
  readonly #path: string;
  readonly #onFirst: () => void;
  #state: 'none' | 'kept' | 'broken';

  /** `onFirst` is called when the run has asked for the first time. */
  constructor(path: string, hasAsked: boolean, onFirst: () => void) {
    this.#path = path;
    this.#state = hasAsked ? 'kept' : 'none';
    this.#onFirst = onFirst;
  }

  /** Adds stored lines that concern questions. A failure is not reported: without the file, readers read the log. */
  add(lines: readonly Buffer[]): void {
    const first = this.#state === 'none' ? lines.findIndex((line) => isQuestion(typeOf(line))) : 0;
    if (first === -1 || this.#state === 'broken') return;
    const isFirst = this.#state === 'none';
    try {
      appendFileSync(this.#path, Buffer.concat(lines.slice(first)));
      this.#state = 'kept';
    } catch {
      removeIfPossible(this.#path);
      this.#state = 'broken';
    }
    if (isFirst) this.#onFirst();
  }

  /** A supervisor that died may have left the file behind its log. */
  rebuild(log: string): void {
    const events = scanLog(log);
    if (events.length === 0) return;
    const isFirst = this.#state === 'none';
    this.#state = 'kept';
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    if (readLines(this.#path)?.toString('utf8') !== text) writeAtomic(this.#path, text);
    if (isFirst) this.#onFirst();
  }
}

/** The events of a run that concern questions. `hasAsked` is undefined for a run of an earlier build. */
export function readQuestionEvents(path: string, log: string, hasAsked: boolean | undefined): ReadEvent[] {
  const lines = readLines(path);
  if (lines === undefined && hasAsked !== false) return scanLog(log);
  const known = lines === undefined ? [] : eventsIn(lines);
  const lastSeq = Number(known.at(-1)?.seq ?? 0);
  const late = questionEventsIn(lastBytes(log, LAG_BYTES)).filter(({ seq }) => Number(seq) > lastSeq);
  return fromFirstQuestion([...known, ...late]);
}

function scanLog(log: string): ReadEvent[] {
  const events: ReadEvent[] = [];
  for (const lines of wholeLines(log))
    events.push(...questionEventsIn(Buffer.from(lines.buffer, lines.byteOffset, lines.length)));
  return fromFirstQuestion(events);
}

function fromFirstQuestion(events: ReadEvent[]): ReadEvent[] {
  const first = events.findIndex(({ type }) => isQuestion(type));
  return first === -1 ? [] : events.slice(first);
}

/** The whole lines of the file; undefined when there is none. */
function readLines(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    return bytes.subarray(0, bytes.lastIndexOf(10) + 1);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, 'read the questions of the run', path);
  }
}

function typeOf(line: Buffer): unknown {
  return JSON.parse(line.toString('utf8')).type;
}
