import {
  checkMessage,
  type MessageProblem,
  originOf,
  problemsOfMessage,
} from '../../../protocol/v1/check-message.ts';
import type { ChunkScanner } from '../../../protocol/v1/chunk-scanner.ts';
import { type HotLine, LineCompleter, type LineGaps } from '../../../protocol/v1/hot-scanner.ts';
import { COUNTED_METRICS, isAmount, PROTOCOL_VERSION } from '../../../protocol/v1/wire.ts';
import type { NewEvent, RunLog } from '../../ports/run-store.ts';
import { isRunnersQuestion } from '../answers/question.ts';
import { TextLines } from './text-lines.ts';

/** The message with which a tool ends its attempt, as the tool sent it. */
export type LastMessage = { type: 'result' | 'error' | 'cancelled'; [field: string]: unknown };

const LAST_MESSAGES: ReadonlySet<string> = new Set(['result', 'error', 'cancelled']);

/** After this many different warnings one general warning follows, so that a tool cannot flood its own log. */
const MAX_WARNINGS = 100;
/** The key of the warning of another run's id. */
const FOREIGN = 'run_id';

/**
 * Receives a tool's messages: completes, checks and stores them, and notes what they mean for the run. A `runner_warning` reports each
 * kind of problem once. An invalid message is stored as well, and does not stop the run.
 */
export class Intake {
  readonly runId: string;
  readonly #log: RunLog;
  readonly #mayEmitTasks: boolean;
  readonly #onQuestion: (event: NewEvent) => void;
  readonly #onInvalidQuestion: (actionId: string, problem: MessageProblem) => void;
  readonly #onMetrics: (metrics: Readonly<Record<string, unknown>>, isLast: boolean) => void;
  readonly #warned = new Set<string>();
  readonly #textLines: TextLines;
  #actions = 0;
  #hasMessages = false;
  #started = false;
  #hasProgress = false;
  #ending: LastMessage | undefined;
  #problem: string | undefined;
  #invalidQuestion: { actionId: string; problem: MessageProblem } | undefined;
  /** When the last event and the last progress came, on the clock of `performance.now()`. */
  lastEventMs = performance.now();
  lastProgressMs = performance.now();
  #dropped = false;
  #burstMs = performance.now();
  /** The time of the burst as a line has it; undefined until a line needs it. */
  #burstTs: string | undefined;
  readonly #completer: LineCompleter;

  constructor(
    log: RunLog,
    options: {
      runId: string;
      mayEmitTasks: boolean;
      joinsLines: boolean;
      onQuestion: (event: NewEvent) => void;
      /** The tool waits for the answer to an invalid question: nothing that it wrote with it ends the attempt. */
      onInvalidQuestion: (actionId: string, problem: MessageProblem) => void;
      /** The present totals of the tool; `isLast` marks those of its last message. */
      onMetrics: (metrics: Readonly<Record<string, unknown>>, isLast: boolean) => void;
    },
  ) {
    this.#log = log;
    this.runId = options.runId;
    this.#completer = new LineCompleter(options.runId);
    this.#mayEmitTasks = options.mayEmitTasks;
    this.#textLines = new TextLines({ joins: options.joinsLines });
    this.#onQuestion = options.onQuestion;
    this.#onInvalidQuestion = options.onInvalidQuestion;
    this.#onMetrics = options.onMetrics;
  }

  /** The message that ended the attempt; undefined when the tool sent none. */
  get ending(): LastMessage | undefined {
    return this.#ending;
  }

  /** Whether any message has come; lines of text do not count. */
  get hasMessages(): boolean {
    return this.#hasMessages;
  }

  /** The first violation of the protocol. It fails the run of a strict tool. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Call it at each read of output: all lines of one read share its time, which saves clock calls. */
  beginBurst(): void {
    this.#burstMs = performance.now();
    this.#burstTs = undefined;
  }

  /** Stores a frequent message that is known to be valid: its bytes, with its gaps filled. */
  keep(kind: Exclude<HotLine, 'other'>, bytes: Uint8Array, start: number, end: number, gaps: LineGaps): void {
    this.#textLines.flush();
    this.#hasMessages = true;
    this.lastEventMs = this.#burstMs;
    if (kind === 'progress') this.#noteProgress();
    if (gaps.foreignEnd !== 0) this.#warnOfForeign();
    if (gaps.lacks === 0 && gaps.foreignEnd === 0) this.#log.keepLine(bytes, start, end);
    else {
      const line = this.#completer.complete(bytes, start, end, gaps, this.#tsOfBurst());
      this.#log.keepLine(line.bytes, 0, line.end);
    }
    if (this.#ending !== undefined) this.#warnAfterEnding();
  }

  /**
   * Stores the frequent messages of a chunk from an offset on, and returns where it stops: at the first line that is not one, or of which the
   * runner has to warn.
   */
  keepMany(scanner: ChunkScanner, from: number): number {
    if (this.#ending !== undefined) return from;
    for (let at = from; ; ) {
      const next = scanner.scan(at, this.#log.events, this.#tsOfBurst(), this.#warned.has(FOREIGN));
      if (scanner.count === 0) return at;
      if (this.#textLines.flush()) continue;
      this.#hasMessages = true;
      this.lastEventMs = this.#burstMs;
      if (scanner.hasProgress) this.lastProgressMs = this.lastEventMs;
      this.#log.keepLines(scanner.lines, scanner.count);
      at = next;
    }
  }

  /** Stores any other message. */
  accept(message: { type: string; [field: string]: unknown }): void {
    this.#textLines.flush();
    this.lastEventMs = performance.now();
    const origin = originOf(message.type);
    if (origin === 'runner') {
      this.unparsedLine('a tool may not write events of the runner', JSON.stringify(message));
      this.#breach(`the tool wrote a '${message.type}', which only the runner may`);
      return;
    }
    this.#hasMessages = true;
    const event = this.#complete(message);
    const problem = checkMessage(event);
    const stored = this.#log.append(event);
    if (problem !== undefined)
      for (const each of problemsOfMessage(event)) this.#warnOfProblem(stored.type, each);
    if (origin === 'unknown') {
      this.warnOnce(
        `type:${message.type}`,
        undefined,
        `the type '${message.type}' is unknown; its events are stored unchanged`,
      );
    } else if (origin === 'orchestrator' && !this.#mayEmitTasks) {
      this.warnOnce(
        'tasks',
        'E_PROTOCOL',
        `'${message.type}' is for tools with role: orchestrator; this tool is a leaf`,
      );
    }
    this.#note(stored, problem);
  }

  /** The tool has used this much so far, which no event reports. */
  spends(metrics: Readonly<Record<string, unknown>>): void {
    this.#onMetrics(metrics, false);
  }

  /** Stores a line that is not a message. It counts as a heartbeat only. */
  unparsedLine(msg: string, line: string): void {
    this.lastEventMs = this.#burstMs;
    this.#textLines.add(msg, line, (text) =>
      this.#log.append({ type: 'runner_log', level: 'warn', msg, line: text }),
    );
  }

  /** Stores a line of a program that writes no messages. */
  plainLine(msg: string): void {
    this.lastEventMs = this.#burstMs;
    this.#textLines.add('log', msg, (text) => this.accept({ type: 'log', level: 'info', msg: text }));
  }

  /** The tool waits for the answer to a question that it will not get. */
  refuseQuestion(actionId: string, problem: MessageProblem): void {
    this.#invalidQuestion ??= { actionId, problem };
  }

  /** Stores a line of stderr. People read it; ACOR does not parse it. */
  diagnostic(line: string): void {
    this.lastEventMs = this.#burstMs;
    this.#textLines.add('diagnostic', line, (text) =>
      this.#log.append({ type: 'diagnostic', stream: 'stderr', line: text }),
    );
  }

  /** Stores what is left of joined lines, and reports an invalid question. Call it at the end of each read of output, and before the log is flushed. */
  endBurst(): void {
    this.#textLines.flush();
    if (this.#invalidQuestion === undefined || this.#ending !== undefined) return;
    const { actionId, problem } = this.#invalidQuestion;
    this.#onInvalidQuestion(actionId, problem);
  }

  warnOnce(key: string, code: string | undefined, msg: string, extra: Record<string, unknown> = {}): void {
    if (this.#warned.has(key)) return;
    this.#textLines.flush();
    if (this.#warned.size >= MAX_WARNINGS) {
      if (!this.#dropped)
        this.#log.append({ type: 'runner_warning', msg: 'further warnings about this tool are omitted' });
      this.#dropped = true;
      return;
    }
    this.#warned.add(key);
    this.#log.append({ type: 'runner_warning', ...(code !== undefined && { code }), msg, ...extra });
  }

  #tsOfBurst(): string {
    this.#burstTs ??= new Date().toISOString();
    return this.#burstTs;
  }

  /** Adds the fields that the tool left out, and replaces those that only the runner may set: `seq` and `run_id`. */
  #complete(message: NewEvent): NewEvent {
    const envelope = {
      v: PROTOCOL_VERSION,
      type: message.type,
      ts: new Date().toISOString(),
      run_id: this.runId,
    };
    const event: NewEvent = { ...envelope, ...message };
    if ('seq' in event) {
      event.claimed_seq = event.seq;
      delete event.seq;
    }
    if (event.run_id !== this.runId) {
      event.claimed_run_id = event.run_id;
      this.#warnOfForeign();
    }
    event.run_id = this.runId;
    if (event.type === 'action_required') this.#identify(event);
    return event;
  }

  /** A question without an id gets one, and so does a question that pretends to be the runner's. */
  #identify(event: NewEvent): void {
    const isForged = typeof event.action_id === 'string' && isRunnersQuestion(event.action_id);
    if (isForged) {
      event.claimed_action_id = event.action_id;
      this.warnOnce(
        'action_id',
        'E_PROTOCOL',
        "the tool asked under an id of the runner's questions; the runner replaced it",
      );
    }
    if (isForged || event.action_id === undefined) event.action_id = `a-${++this.#actions}`;
  }

  #note(event: NewEvent, problem: MessageProblem | undefined): void {
    if (this.#ending !== undefined) this.#warnAfterEnding();
    else this.#noteMetrics(event);
    switch (event.type) {
      case 'start':
        this.lastProgressMs = this.lastEventMs;
        if (this.#started) this.warnOnce('start', 'E_PROTOCOL', 'the tool wrote start more than once');
        else if (this.#hasProgress)
          this.warnOnce(
            'late-start',
            'E_PROTOCOL',
            'the tool wrote start after progress; start must come first',
          );
        this.#started = true;
        return;
      case 'progress':
        this.#noteProgress();
        return;
      case 'action_required':
        if (problem === undefined) this.#onQuestion(event);
        // A tool continues after a question that does not block it.
        else if (event.blocking !== undefined && event.blocking !== false)
          this.refuseQuestion(String(event.action_id), problem);
        return;
      case 'result':
      case 'error':
      case 'cancelled':
        // An invalid message ends the attempt, too: an error with an invalid field must not become a success.
        this.#ending ??= event as LastMessage;
        return;
      default:
    }
  }

  #noteProgress(): void {
    this.#hasProgress = true;
    this.lastProgressMs = this.lastEventMs;
  }

  #noteMetrics({ type, metrics }: NewEvent): void {
    if (typeof metrics !== 'object' || metrics === null || Array.isArray(metrics)) return;
    const reported = metrics as Record<string, unknown>;
    for (const name of COUNTED_METRICS) if (!isAmount(reported[name] ?? 0)) this.#warnOfMetric(type, name);
    this.#onMetrics(reported, LAST_MESSAGES.has(type));
  }

  /** A tool may write anything into `metrics`, so this is no invalid message. */
  #warnOfMetric(type: string, name: string): void {
    const msg = `'metrics.${name}' of the '${type}' is ignored: it must be a number that is not negative`;
    this.warnOnce(`metrics:${name}`, 'E_PROTOCOL', msg, { field: `metrics.${name}` });
  }

  #warnOfForeign(): void {
    this.warnOnce(FOREIGN, 'E_PROTOCOL', "the tool wrote another run's run_id; the runner corrected it");
  }

  #warnAfterEnding(): void {
    this.warnOnce(
      'after-ending',
      'E_PROTOCOL',
      `the tool wrote after its '${this.#ending?.type}', which must be its last message`,
    );
  }

  #warnOfProblem(type: string, { field, expected }: MessageProblem): void {
    const msg = `invalid '${type}': '${field}' must be ${expected}`;
    this.#breach(msg);
    this.warnOnce(`problem:${type}:${field}`, 'E_PROTOCOL', msg, { field, expected });
  }

  #breach(msg: string): void {
    this.#problem ??= msg;
  }
}
