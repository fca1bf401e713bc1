import { AcorError } from '../../../protocol/acor-error.ts';
import { errorMessage } from '../../../util/error-code.ts';
import type { PostedAnswer } from '../../ports/control-channel.ts';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import { after, type StopGuard } from '../attempt/guards/guard.ts';
import type { RunWorkspace } from '../workspace.ts';
import { enterState } from '../write-ending.ts';
import { answeredIds, isSafeActionId, writeAnswerFile } from './answer-files.ts';
import {
  type Answer,
  answerSteps,
  jsonAnswer,
  problemOfAnswer,
  type Question,
  readQuestion,
} from './question.ts';

/** Each open question costs memory, a timer and a part of every answer about the run. No person or agent answers so many. */
const MAX_OPEN = 1_000;

/** Returns the answer to a question; `undefined` leaves it open. */
export type AnswerHandler = (question: Question) => unknown;

/** How an attempt delivers answers to its tool, and what it does when no answer comes. */
export interface QuestionHooks {
  deliver(line: string): void;
  /** Fields that are added to an answer for the tool, such as a moved deadline. */
  answerFields(): Readonly<Record<string, unknown>>;
  /** The run stopped waiting for answers. */
  onResumed(): void;
  onUnanswered(actionId: string, timeoutS: number): void;
  /** An answer could not be stored. */
  onFailed(error: unknown): void;
}

/**
 * The questions of a run and their answers (contract §4). The first valid answer wins. The runner appends it to the log, fsyncs the
 * log, then delivers it to the tool. A blocking question makes the run wait.
 */
export class Questions {
  readonly #writer: RunWriter;
  readonly #workspace: RunWorkspace;
  readonly #prepared: readonly PreparedAnswer[];
  readonly #handler: AnswerHandler | undefined;
  readonly #defaultTimeoutS: number;
  readonly #clock = new WaitingClock();
  readonly #open = new Map<string, { question: Question; stopTimer: StopGuard }>();
  /** The ids of the open questions that block: guards ask for them all the time. */
  readonly #blocking = new Set<string>();
  readonly #answered: Set<string>;
  #hooks: QuestionHooks | undefined;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** When the last answer was accepted, on the clock of `performance.now()`. */
  lastAnswerMs = 0;

  constructor(
    writer: RunWriter,
    given: {
      answers: readonly PreparedAnswer[];
      onQuestion: AnswerHandler | undefined;
      answerTimeoutS: number;
      workspace: RunWorkspace;
    },
  ) {
    this.#writer = writer;
    this.#prepared = given.answers;
    this.#handler = given.onQuestion;
    this.#defaultTimeoutS = given.answerTimeoutS;
    this.#workspace = given.workspace;
    this.#answered = answeredIds(given.workspace);
  }

  /** Whether a blocking question is open. */
  get isWaiting(): boolean {
    return this.#blocking.size > 0;
  }

  /** Whether the deadline clock is stopped: from the first blocking question until no blocking question is open. */
  get isClockStopped(): boolean {
    return this.#clock.runs;
  }

  /** How long the run has waited for answers so far, over all its attempts. */
  get waitedMs(): number {
    return this.#clock.waitedMs;
  }

  /** Call it at the start of an attempt. */
  begin(hooks: QuestionHooks): void {
    this.#hooks = hooks;
  }

  /** Call it at the end of an attempt. Closes the open questions: the next attempt asks them again. */
  async end(): Promise<void> {
    await this.#work;
    this.#hooks = undefined;
    for (const { stopTimer } of this.#open.values()) stopTimer();
    this.#open.clear();
    this.#blocking.clear();
    try {
      await this.#reportState();
    } catch {
      // On a full disk, use the space that is reserved for the end of the run.
      this.#writer.releaseReserve();
      await this.#reportState();
    }
  }

  /** Call it before the end of the run is written: from here on no answer writes an event. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#work;
  }

  /** Opens a question that the tool asked, once its event is in the log. */
  ask(event: Readonly<Record<string, unknown>>): void {
    const question = readQuestion(event);
    const { actionId } = question;
    if (this.#open.size >= MAX_OPEN && !this.#open.has(actionId)) {
      this.#hooks?.onFailed(tooMany());
      return;
    }
    if (!isSafeActionId(actionId)) {
      this.#store(
        this.#warn(actionId, 'the action_id is not a valid file name, so the question cannot be answered'),
      );
      return;
    }
    // An earlier attempt got the answer; the tool reads it from ANSWERS_DIR.
    if (this.#answered.has(actionId)) return;
    // The tool has exited, and this is the rest of its output: no process waits for the answer.
    if (this.#hooks === undefined) return;
    const timeoutS = question.timeoutS ?? (question.blocking ? this.#defaultTimeoutS : undefined);
    const stopTimer =
      timeoutS === undefined ? () => {} : after(timeoutS * 1000, () => this.#timeUp(question, timeoutS));
    // The tool may ask the same question again: the first timer must not answer the second question.
    this.#remove(actionId);
    this.#add(question, stopTimer);
    const prepared = this.#prepared.find(({ action }) => action === actionId || action === question.action);
    if (prepared === undefined) this.#putToOthers(question);
    else this.#enqueue(() => this.#tryPrepared(question, prepared));
  }

  /** Makes this run wait for a question of its child run. The supervisor of the child accepts the answer. */
  follow(question: Question): void {
    if (this.#hooks === undefined) return;
    this.#add(question, () => {});
    this.#store(this.#reportState(question));
  }

  /** Closes a child's question: the child accepted an answer, or has ended. */
  withdraw(actionId: string): void {
    if (this.#remove(actionId)) this.#store(this.#reportState());
  }

  /** Checks an answer that another process posted, and accepts or rejects it in the log. */
  take({ answer_id, action_id, answer, by, source, reason }: PostedAnswer): void {
    const from = { value: answer, by, source, answerId: answer_id, ...(reason && { reason }) };
    this.#enqueue(async () => {
      const open = this.#open.get(action_id);
      const why = this.#answered.has(action_id) ? 'it has been answered already' : 'the question is not open';
      const problem = open === undefined ? why : await problemOfAnswer(open.question, answer);
      if (problem !== undefined) await this.#warn(action_id, problem, answer_id);
      else await this.#accept(open!.question, from);
    });
  }

  /** Checks a prepared answer like any other. If it is invalid, the question stays open for the other sources of answers. */
  async #tryPrepared(question: Question, prepared: PreparedAnswer): Promise<void> {
    const { answer: value, by, source, reason } = prepared;
    const problem = await problemOfAnswer(question, value);
    if (!this.#open.has(question.actionId)) return;
    if (problem === undefined) {
      await this.#accept(question, { value, by, source, ...(reason && { reason }) });
      return;
    }
    await this.#warn(question.actionId, problem);
    this.#putToOthers(question);
  }

  /** Without a valid prepared answer, a blocking question makes the run wait, and the handler is called. */
  #putToOthers(question: Question): void {
    this.#store(this.#reportState(question));
    if (this.#handler !== undefined) void this.#consult(this.#handler, question);
  }

  async #consult(handler: AnswerHandler, question: Question): Promise<void> {
    // Meanwhile another answer may have been accepted, or the attempt may be over.
    const isOpen = () => this.#open.get(question.actionId)?.question === question;
    try {
      const given = await handler(question);
      if (given === undefined) return;
      const value = jsonAnswer(given);
      this.#enqueue(async () => {
        const problem = await problemOfAnswer(question, value);
        if (!isOpen()) return;
        if (problem === undefined) await this.#accept(question, { value, by: 'caller', source: 'library' });
        else await this.#warn(question.actionId, problem);
      });
    } catch (error) {
      if (isOpen())
        this.#store(this.#warn(question.actionId, `the onQuestion handler failed: ${errorMessage(error)}`));
    }
  }

  async #accept(question: Question, { value, by, source, reason, answerId }: Answer): Promise<void> {
    const { actionId, action } = question;
    if (this.#answered.has(actionId)) return;
    this.#answered.add(actionId);
    this.lastAnswerMs = performance.now();
    this.#remove(actionId);
    const line = JSON.stringify({
      v: 1,
      type: 'action_answer',
      action_id: actionId,
      action,
      answer: value,
      ...this.#hooks?.answerFields(),
    });
    this.#writer.log.append({
      type: 'action_answered',
      action_id: actionId,
      action,
      answer: value,
      by,
      source,
      ...(reason && { reason }),
      ...(answerId && { answer_id: answerId }),
    });
    await this.#reportState();
    await this.#writer.log.sync();
    writeAnswerFile(this.#workspace, actionId, line);
    this.#hooks?.deliver(line);
  }

  #timeUp(question: Question, timeoutS: number): void {
    this.#enqueue(async () => {
      if (!this.#open.has(question.actionId)) return;
      const { default: fallback } = question;
      if (fallback !== undefined)
        await this.#accept(question, { value: fallback.value, by: 'acor', source: 'default' });
      else if (question.blocking) this.#hooks?.onUnanswered(question.actionId, timeoutS);
    });
  }

  #add(question: Question, stopTimer: StopGuard): void {
    this.#open.set(question.actionId, { question, stopTimer });
    if (question.blocking) this.#blocking.add(question.actionId);
  }

  /** Whether the question was open. */
  #remove(actionId: string): boolean {
    this.#open.get(actionId)?.stopTimer();
    this.#blocking.delete(actionId);
    return this.#open.delete(actionId);
  }

  /** Changes the run to `waiting_ai` while a blocking question is open, else back to `running`. */
  async #reportState(asked?: Question): Promise<void> {
    // A reader who sees in the record that the run waits looks for the question at once: store it first.
    if (asked?.blocking && this.#writer.record.state === 'running') await this.#writer.log.flush();
    const { state, run_id } = this.#writer.record;
    const to = this.isWaiting ? 'waiting_ai' : 'running';
    if (this.isWaiting) this.#clock.start();
    else if (this.#clock.runs) {
      this.#clock.stop();
      this.#hooks?.onResumed();
    }
    if (state === to || (state !== 'running' && state !== 'waiting_ai')) return;
    const more =
      asked === undefined
        ? {}
        : { action_id: asked.actionId, next: answerSteps(run_id, asked).map(this.#writer.commandOf) };
    enterState(this.#writer, to, asked?.action, more);
    // A follower that sees the event may read the record at once: update the record first.
    await this.#writer.update({ state: to });
    await this.#writer.log.flush();
  }

  async #warn(actionId: string, problem: string, answerId?: string): Promise<void> {
    const warning = { code: 'E_BAD_ANSWER', msg: `'${actionId}': ${problem}`, action_id: actionId };
    this.#writer.log.append({ type: 'runner_warning', ...warning, ...(answerId && { answer_id: answerId }) });
    await this.#writer.log.flush();
  }

  /** A storage failure ends the attempt. */
  #store(stored: Promise<void>): void {
    stored.catch((error) => this.#hooks?.onFailed(error));
  }

  /** Serialises the answers, so that only one of two simultaneous answers is accepted. */
  #enqueue(work: () => Promise<void>): void {
    if (this.#isClosed) return;
    this.#work = this.#work.then(work).catch((error) => this.#hooks?.onFailed(error));
  }
}

function tooMany(): AcorError {
  return new AcorError('E_OUTPUT_LIMIT', `the tool has more than ${MAX_OPEN} open questions`, {
    hint: 'Let the tool wait for answers before it asks more, or ask one question with options.',
  });
}

/** Measures the total time that a run has waited for answers. */
class WaitingClock {
  #endedMs = 0;
  #sinceMs: number | undefined;

  /** Whether the run waits now. */
  get runs(): boolean {
    return this.#sinceMs !== undefined;
  }

  get waitedMs(): number {
    return this.#endedMs + (this.#sinceMs === undefined ? 0 : performance.now() - this.#sinceMs);
  }

  start(): void {
    this.#sinceMs ??= performance.now();
  }

  stop(): void {
    this.#endedMs = this.waitedMs;
    this.#sinceMs = undefined;
  }
}
