import { closeSync, constants } from 'node:fs';
import { writeAtomic, writeFully } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/files.ts';
import { openOwn, readOwn } from '../../util/regular-file.ts';
import type { ReadEvent } from '../ports/run-store.ts';
import { eventsIn, wholeLines } from './follow.ts';
import { isQuestion, questionEventsIn } from './question-events.ts';
import { bytesOf, type ReadableFile } from './readable-file.ts';
import { storageError } from './storage-error.ts';
import { lastBytes } from './tail.ts';

/** More than one batch of a log: the file may miss the batch that the writer is just storing. */
const LAG_BYTES = 1 << 19;

/**
 * `questions.jsonl` beside a run's log: the question events from the first question on, so that readers need not read the log. The file
 * is derived from the log, which is written first. A missing file is rebuilt.
 */
export class QuestionFile {
  readonly #path: string;
  readonly #onFirst: () => void;
  #state: 'none' | 'kept' | 'broken';

  /** `onFirst` is called at the run's first question. */
  constructor(path: string, hasAsked: boolean, onFirst: () => void) {
    this.#path = path;
    this.#state = hasAsked ? 'kept' : 'none';
    this.#onFirst = onFirst;
  }

  /** Appends stored question events. A failure is ignored: without the file, readers read the log. */
  add(lines: readonly Buffer[]): void {
    const first = this.#state === 'none' ? lines.findIndex((line) => isQuestion(typeOf(line))) : 0;
    if (first === -1 || this.#state === 'broken') return;
    const isFirst = this.#state === 'none';
    try {
      this.#append(Buffer.concat(lines.slice(first)), isFirst);
      this.#state = 'kept';
    } catch {
      removeIfPossible(this.#path);
      this.#state = 'broken';
    }
    if (isFirst) this.#onFirst();
  }

  /** Fails for a file that was removed meanwhile: a new one would lack the questions so far. */
  #append(bytes: Buffer, isFirst: boolean): void {
    const flags = constants.O_WRONLY | constants.O_APPEND | (isFirst ? constants.O_CREAT : 0);
    const fd = openOwn(this.#path, flags, 0o666);
    try {
      writeFully(fd, bytes);
    } finally {
      closeSync(fd);
    }
  }

  /** Rebuilds the file from the question events of the log, when the supervisor died between writing the log and the file. */
  rebuild(events: readonly ReadEvent[]): void {
    if (events.length === 0) return;
    const isFirst = this.#state === 'none';
    this.#state = 'kept';
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    if (textOf(this.#path) !== text) writeAtomic(this.#path, text);
    if (isFirst) this.#onFirst();
  }
}

/** Collects the question events of a log, from the first question on, while the log is read in batches of whole lines. */
export class QuestionScan {
  readonly events: ReadEvent[] = [];

  add(lines: Uint8Array): void {
    const found = questionEventsIn(Buffer.from(lines.buffer, lines.byteOffset, lines.length));
    this.events.push(...(this.events.length === 0 ? fromFirstQuestion(found) : found));
  }
}

/** The question events of a run, from its file of them and its log. `hasAsked` is undefined for a run of an earlier build. */
export function readQuestionEvents(
  questions: ReadableFile | undefined,
  log: ReadableFile,
  hasAsked: boolean | undefined,
): ReadEvent[] {
  const lines = questions && wholeLinesOf(bytesOf(questions));
  if (lines === undefined && hasAsked !== false) return scanLog(log);
  const known = lines === undefined ? [] : eventsIfWhole(lines);
  if (known === undefined) return scanLog(log);
  const lastSeq = Number(known.at(-1)?.seq ?? 0);
  const late = questionEventsIn(lastBytes(log, LAG_BYTES)).filter(({ seq }) => Number(seq) > lastSeq);
  return fromFirstQuestion([...known, ...late]);
}

/** Undefined when the file was damaged. */
function eventsIfWhole(lines: Buffer): ReadEvent[] | undefined {
  try {
    return eventsIn(lines);
  } catch {
    return undefined;
  }
}

function scanLog(log: ReadableFile): ReadEvent[] {
  const scan = new QuestionScan();
  for (const lines of wholeLines(log)) scan.add(lines);
  return scan.events;
}

function fromFirstQuestion(events: ReadEvent[]): ReadEvent[] {
  const first = events.findIndex(({ type }) => isQuestion(type));
  return first === -1 ? [] : events.slice(first);
}

function wholeLinesOf(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(10) + 1);
}

/** The whole lines of a file; undefined when it does not exist. */
function textOf(path: string): string | undefined {
  try {
    return wholeLinesOf(readOwn(path)).toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, 'read the questions of the run', path);
  }
}

function typeOf(line: Buffer): unknown {
  return JSON.parse(line.toString('utf8')).type;
}
