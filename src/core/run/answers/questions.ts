import { errorMessage } from '../../../util/error-code.ts';
import type { PostedAnswer } from '../../ports/control-channel.ts';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import { after, type StopGuard } from '../attempt/guards/guard.ts';
import type { RunWorkspace } from '../workspace.ts';
import { enterState } from '../write-ending.ts';
import { answeredIds, fileAnswer, isSafeActionId } from './answer-files.ts';
import { jsonAnswer, problemOfAnswer } from './check-answer.ts';
import { type Answer, answerSteps, type Question, readQuestion } from './question.ts';

/** Answers a question; `undefined` leaves it open. */
export type AnswerHandler = (question: Question) => unknown;

/** What an attempt does with answers, and with questions that get none. */
export interface QuestionHooks {
  deliver(line: string): void;
  /** What the tool gets together with an answer. */
  news(): Readonly<Record<string, unknown>>;
  /** The run no longer waits. */
  onGoingOn(): void;
  onUnanswered(actionId: string, timeoutS: number): void;
  /** An answer could not be stored. */
  onFailed(error: unknown): void;
}

/**
 * The questions of a run and their answers (contract §4). The first answer that fits counts; it is written to the log, then fsynced,
 * then delivered to the tool. A blocking question makes the run wait.
 */
export class Questions {
  readonly #writer: RunWriter;
  readonly #workspace: RunWorkspace;
  readonly #prepared: readonly PreparedAnswer[];
  readonly #handler: AnswerHandler | undefined;
  readonly #defaultTimeoutS: number;
  readonly #clock = new WaitingClock();
  readonly #open = new Map<string, { question: Question; stopTimer: StopGuard }>();
  readonly #answered: Set<string>;
  #hooks: QuestionHooks | undefined;
  #work: Promise<void> = Promise.resolve();
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
    return [...this.#open.values()].some(({ question }) => question.blocking);
  }

  /** Whether the waiting clock runs: from the first blocking question to the answer of the last one. */
  get standsStill(): boolean {
    return this.#clock.runs;
  }

  /** How long the run has waited for answers until now, in all its attempts. */
  get waitedMs(): number {
    return this.#clock.waitedMs;
  }

  /** An attempt begins. */
  begin(hooks: QuestionHooks): void {
    this.#hooks = hooks;
  }

  /** The attempt is over: the next one, if there is one, asks its open questions again. */
  async end(): Promise<void> {
    await this.#work;
    this.#hooks = undefined;
    for (const { stopTimer } of this.#open.values()) stopTimer();
    this.#open.clear();
    try {
      await this.#reportState();
    } catch {
      // On a full disk, use the space that is reserved for the end of the run.
      this.#writer.releaseReserve();
      await this.#reportState();
    }
  }

  /** The tool has asked; its event is in the log. */
  ask(event: Readonly<Record<string, unknown>>): void {
    const question = readQuestion(event);
    const { actionId } = question;
    if (!isSafeActionId(actionId)) {
      this.#store(
        this.#warn(actionId, 'its action_id cannot be the name of a file, so it cannot be answered'),
      );
      return;
    }
    // The answer of an earlier attempt is on file, where the tool finds it.
    if (this.#answered.has(actionId)) return;
    // Read after the tool exited: there is no process to answer.
    if (this.#hooks === undefined) return;
    const timeoutS = question.timeoutS ?? (question.blocking ? this.#defaultTimeoutS : undefined);
    const stopTimer =
      timeoutS === undefined ? () => {} : after(timeoutS * 1000, () => this.#timeUp(question, timeoutS));
    // Asked again: the timer of the first question must not answer the second.
    this.#open.get(actionId)?.stopTimer();
    this.#open.set(actionId, { question, stopTimer });
    const prepared = this.#prepared.find(({ action }) => action === actionId || action === question.action);
    if (prepared === undefined) this.#putToOthers(question);
    else this.#enqueue(() => this.#tryPrepared(question, prepared));
  }

  /** A child of the run has asked, and its supervisor takes the answer: until then this run waits as for a question of its own. */
  follow(question: Question): void {
    if (this.#hooks === undefined) return;
    this.#open.set(question.actionId, { question, stopTimer: () => {} });
    this.#store(this.#reportState(question));
  }

  /** Closes a question without an answer: another run took the answer, or the run that asked has ended. */
  withdraw(actionId: string): void {
    this.#open.get(actionId)?.stopTimer();
    if (this.#open.delete(actionId)) this.#store(this.#reportState());
  }

  /** Takes an answer that another process posted. */
  take({ answer_id, action_id, answer, by, source, reason }: PostedAnswer): void {
    const from = { value: answer, by, source, answerId: answer_id, ...(reason && { reason }) };
    this.#enqueue(async () => {
      const open = this.#open.get(action_id);
      const why = this.#answered.has(action_id) ? 'it has been answered already' : 'no such question is open';
      const problem = open === undefined ? why : await problemOfAnswer(open.question, answer);
      if (problem !== undefined) await this.#warn(action_id, problem, answer_id);
      else await this.#accept(open!.question, from);
    });
  }

  /** Checks a prepared answer like any other: if it does not fit, the question is asked after all. */
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

  /** Without a prepared answer the run waits, if the question blocks it, and the handler is asked. */
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
        this.#store(this.#warn(question.actionId, `the handler of questions failed: ${errorMessage(error)}`));
    }
  }

  async #accept(question: Question, { value, by, source, reason, answerId }: Answer): Promise<void> {
    const { actionId, action } = question;
    if (this.#answered.has(actionId)) return;
    this.#answered.add(actionId);
    this.lastAnswerMs = performance.now();
    this.#open.get(actionId)?.stopTimer();
    this.#open.delete(actionId);
    const line = JSON.stringify({
      v: 1,
      type: 'action_answer',
      action_id: actionId,
      action,
      answer: value,
      ...this.#hooks?.news(),
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
    fileAnswer(this.#workspace, actionId, line);
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

  /** Enters `waiting_ai` when a blocking question is open, and leaves it when none is. */
  async #reportState(asked?: Question): Promise<void> {
    const { state, run_id } = this.#writer.record;
    const to = this.isWaiting ? 'waiting_ai' : 'running';
    if (this.isWaiting) this.#clock.start();
    else if (this.#clock.runs) {
      this.#clock.stop();
      this.#hooks?.onGoingOn();
    }
    if (state === to || (state !== 'running' && state !== 'waiting_ai')) return;
    const more =
      asked === undefined
        ? {}
        : { action_id: asked.actionId, next: answerSteps(run_id, asked).map(this.#writer.commandOf) };
    enterState(this.#writer, to, asked?.action, more);
    // A process that follows the log may read the record next.
    await this.#writer.update({ state: to });
    await this.#writer.log.flush();
  }

  async #warn(actionId: string, problem: string, answerId?: string): Promise<void> {
    const word = { code: 'E_BAD_ANSWER', msg: `'${actionId}': ${problem}`, action_id: actionId };
    this.#writer.log.append({ type: 'runner_warning', ...word, ...(answerId && { answer_id: answerId }) });
    await this.#writer.log.flush();
  }

  /** A store that fails ends the attempt. */
  #store(stored: Promise<void>): void {
    stored.catch((error) => this.#hooks?.onFailed(error));
  }

  /** Serialises the answers, so that two that arrive at once are not both accepted. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error) => this.#hooks?.onFailed(error));
  }
}

/** Measures how long a run has waited for answers, all waits together. */
class WaitingClock {
  #endedMs = 0;
  #sinceMs: number | undefined;

  /** Whether the run waits at this moment. */
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
