import { type LineOutput, PlainLines, type Written } from '../../compose/live/line-output.ts';
import { LiveArea } from '../../compose/live/live-area.ts';
import type { Screen } from '../../compose/screen.ts';
import { mark, styled } from '../../compose/style.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import { durationWords } from '../../compose/time-words.ts';
import { LineReader } from '../../protocol/jsonl.ts';
import { parseEvent } from '../../protocol/parse-event.ts';
import { countOf } from '../../util/count-of.ts';
import { plainOutput } from '../present/result.ts';
import { renderEnd } from './render-end.ts';
import { linesOf, type Reported, renderEvent } from './render-event.ts';
import { type EndedStep, RunCourse, textOf } from './run-course.ts';
import { runFooter } from './run-footer.ts';

/** The output of a plain program up to this length is shown again, in one piece, as the answer. */
const MAX_REPEATED_LINES = 20;

/** How much of what errors and warnings say is compared with the hint at the end. */
const MAX_SAID_CHARS = 20_000;

type Event = Readonly<Record<string, unknown>>;

/** How a run is shown. */
export interface ViewOptions {
  runId: string;
  screen: Screen;
  fd: number;
  /** Paths below this folder are shown relative to it. */
  cwd: string;
  fromCaller(command: string): string;
  /** A dialog asks the blocking questions, so the view does not show them. */
  asks: boolean;
  /**
   * This many bytes of the log existed before the view started; their events count from their own timestamps. For a
   * recording that is the whole log, and `endMs` is the end of its run.
   */
  old: { bytes: number } | { endMs: number };
  waitingStopsDeadline: boolean;
  /** Prints every event as a line, as in a log, instead of steps and a summary. */
  asLog?: (event: Event) => string | undefined;
}

/**
 * Shows a live run to a person at a terminal: its output and its completed steps as scrolling lines, its progress below
 * them, and its outcome at the end.
 */
export class RunView {
  readonly #options: ViewOptions;
  readonly #course: RunCourse;
  readonly #out: LineOutput;
  /** Whether lines of the output are not on the screen. */
  hasLeftOut = false;
  #bytes = 0;
  #result: Event | undefined;
  /** What the last failed step said. */
  #failure = '';
  /** What errors and warnings have said, the newest first. */
  #said = '';
  #isOver = false;
  #word = '';
  #reportedPct = '';

  constructor(options: ViewOptions) {
    const { screen, fd, runId, fromCaller } = options;
    this.#options = options;
    this.#course = new RunCourse(options);
    this.#out = screen.live
      ? new LiveArea(
          fd,
          screen,
          (now) => this.#footer(now),
          (count) => {
            this.hasLeftOut = true;
            return leftOut(count, fromCaller(`acor logs ${runId} --format text`), this.#out.screen);
          },
        )
      : new PlainLines(fd, screen);
  }

  /** Takes the next lines of the event log. */
  async show(lines: Uint8Array): Promise<Written> {
    const { old } = this.#options;
    const isFresh = 'bytes' in old && this.#bytes >= old.bytes;
    const nowMs = 'bytes' in old ? Date.now() : old.endMs;
    const reader = new LineReader((bytes, start, end) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
      this.#take(parseEvent(text), nowMs, isFresh);
    }, lines.length);
    reader.push(lines);
    this.#bytes += lines.length;
    return this.#out.settle();
  }

  /** Shows the response to a request of the person, while it lasts. */
  say(word: string): void {
    if (this.#options.screen.live) this.#word = word;
    else this.emit(word);
  }

  /** Prints a line of the runner itself permanently. */
  emit(line: string): void {
    this.#out.print(safeLine(line), 'kept');
    // A closed reader is detected by the next write.
    void this.#out.settle().catch(() => {});
  }

  /** Releases the screen to another writer. */
  async putAside(): Promise<void> {
    await this.#out.putAside();
  }

  /** Takes the screen back. */
  takeUp(): void {
    this.#out.takeUp();
  }

  async close(): Promise<void> {
    await this.#out.close();
  }

  #take(event: Event, nowMs: number, isFresh: boolean): void {
    const { screen } = this.#out;
    const { asks, asLog } = this.#options;
    const steps = this.#course.take(event, nowMs, isFresh);
    this.#isOver = event.type === 'runner_end';
    if (asLog !== undefined) {
      const line = asLog(event);
      if (line !== undefined) this.#out.print(line);
      return;
    }
    for (const step of steps) this.#out.print(stepLine(step, screen), 'kept');
    if (event.type === 'task_error') this.#failure = textOf((event.child_event as Event | undefined)?.msg);
    this.#noteWhy(event);
    if (event.type === 'result') this.#result = this.#isShown(event) ? { ...event, data: undefined } : event;
    if (event.type === 'runner_end')
      this.#out.print(
        renderEnd(event, { result: this.#result, said: this.#said, place: this.#options, screen }),
        'kept',
      );
    else if (!(event.type === 'action_required' && event.blocking === true && asks))
      for (const line of linesOf(this.#unrepeated(event))) this.#emit(renderEvent(line, screen));
    if (event.type === 'progress' && !screen.live) this.#reportProgress();
  }

  #noteWhy({ type, msg, hint }: Event): void {
    const shown =
      type === 'runner_warning'
        ? textOf(msg)
        : type === 'error' || type === 'runner_error'
          ? textOf(hint)
          : '';
    if (shown !== '') this.#said = `${shown}\n${this.#said}`.slice(0, MAX_SAID_CHARS);
  }

  /** The error of a workflow without the words of its step, which stand above it. */
  #unrepeated(event: Event): Event {
    const msg = textOf(event.msg);
    const repeated = `: ${this.#failure}`;
    if (event.type !== 'error' || this.#failure === '' || !msg.endsWith(repeated)) return event;
    return { ...event, msg: msg.slice(0, -repeated.length) };
  }

  /** The many lines of a plain program are on the screen already, as it wrote them. */
  #isShown({ data }: Event): boolean {
    const output = plainOutput(data);
    return output !== undefined && !this.hasLeftOut && output.split('\n').length > MAX_REPEATED_LINES;
  }

  #emit(lines: Reported | undefined): void {
    if (lines !== undefined) this.#out.print(lines.text, lines.isKept ? 'kept' : undefined);
  }

  /** On a terminal that cannot redraw, every tenth percent of a step is a line. */
  #reportProgress(): void {
    const { name = '', pct, msg = '' } = this.#course.work ?? {};
    const part = `${name} ${pct === undefined ? '' : Math.floor(pct / 10)}`;
    if (part === this.#reportedPct) return;
    this.#reportedPct = part;
    const words = [name, pct === undefined ? '' : `${Math.floor(pct)}%`, msg].filter((each) => each !== '');
    const { screen } = this.#out;
    this.#out.print(`${mark('working', screen)} ${safeLine(words.join('  '))}`);
  }

  #footer(screen: Screen): string[] {
    if (this.#isOver) return [];
    const facts = { nowMs: Date.now(), isLive: 'bytes' in this.#options.old, word: this.#word };
    return runFooter(this.#course, facts, screen);
  }
}

function stepLine({ name, end, durationMs }: EndedStep, screen: Screen): string {
  const look = end === 'done' ? 'green' : end === 'failed' ? 'red' : 'yellow';
  const took = styled(durationWords(durationMs / 1000), 'dim', screen);
  return `${styled(mark(end, screen), look, screen)} ${safeLine(name.slice(0, 400))}  ${took}`;
}

function leftOut(count: number, command: string, screen: Screen): string {
  const words = `${screen.unicode ? '…' : '...'} ${countOf(count, 'line')} more: ${command}`;
  return styled(words, 'dim', screen);
}
