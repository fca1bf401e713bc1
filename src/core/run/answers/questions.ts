import { AcorError } from '../../../protocol/acor-error.ts';
import { errorMessage } from '../../../util/error-code.ts';
import { nearest } from '../../../util/nearest.ts';
import type { PostedAnswer } from '../../ports/control-channel.ts';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import type { NewEvent, RunWriter } from '../../ports/run-store.ts';
import { after, type StopGuard } from '../attempt/guards/guard.ts';
import type { RunWorkspace } from '../workspace.ts';
import { enterState } from '../write-ending.ts';
import { answeredIds, writeAnswerFile } from './answer-files.ts';
import {
  type Answer,
  type AnswerHandler,
  answerSteps,
  answerTo,
  isNamed,
  isRunnersQuestion,
  jsonAnswer,
  problemOfAnswer,
  type Question,
  type QuestionNames,
  readQuestion,
} from './question.ts';
import type { QuestionHooks } from './question-hooks.ts';
import { WaitingClock } from './waiting-clock.ts';

/** Each open question costs memory, a timer and a part of every answer about the run. No person or agent answers so many. */
const MAX_OPEN = 1_000;

interface OpenQuestion {
  question: Question;
  stopTimer: StopGuard;
  /** For a question of the runner: gets the answer, or undefined when none comes. */
  settle: ((answer: unknown) => void) | undefined;
}

/**
 * The questions of a run and their answers (contract §4). The first valid answer wins. The runner appends it to the log, fsyncs the
 * log, then delivers it to the tool. A blocking question makes the run wait.
 */
export class Questions {
  readonly #writer: RunWriter;
  readonly #workspace: RunWorkspace;
  readonly #prepared: readonly PreparedAnswer[];
  /** What the caller gave beforehand, and no question has asked for so far. */
  readonly #unused: Set<PreparedAnswer>;
  readonly #handler: AnswerHandler | undefined;
  readonly #defaultTimeoutS: number;
  readonly #clock = new WaitingClock();
  readonly #open = new Map<string, OpenQuestion>();
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
    const { parent, replays } = writer.record;
    // A child has the answers for all steps of its workflow, which reports those that none asked for. A replay has each recorded one twice.
    const isCallers = parent === null && replays === null;
    this.#unused = new Set(given.answers.filter(({ source }) => source !== 'policy' && isCallers));
    this.#handler = given.onQuestion;
    this.#defaultTimeoutS = given.answerTimeoutS;
    this.#workspace = given.workspace;
    this.#answered = answeredIds(given.workspace);
  }

  /** Whether a blocking question is open. */
  get isWaiting(): boolean {
    return this.#blocking.size > 0;
  }

  /** The action of the first open question that blocks. */
  get awaited(): string | undefined {
    const [id] = this.#blocking;
    return id === undefined ? undefined : this.#open.get(id)?.question.action;
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
    for (const { stopTimer, settle } of this.#open.values()) {
      stopTimer();
      settle?.(undefined);
    }
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

  /** Reports the answers of the caller that no question has asked for. Call it when the run has completed. */
  async reportUnused(): Promise<void> {
    if (this.#unused.size === 0) return;
    await this.#work;
    for (const { action } of this.#unused)
      if (!this.#answered.has(action))
        await this.#warn(action, 'no question asked for this answer, which was given beforehand');
    this.#unused.clear();
  }

  /** Notes that a question was asked, here or in a child, so that its answer is of use. */
  noteAsked(question: QuestionNames): void {
    for (const given of this.#unused) if (isNamed(question, given.action)) this.#unused.delete(given);
  }

  /** Whether the caller or a rule of the configuration answers each question with this action, before it is asked. */
  isAnsweredBeforehand(action: string): boolean {
    return this.#prepared.some((given) => given.action === action);
  }

  /** Opens a question that the tool asked, once its event is in the log. */
  ask(event: Readonly<Record<string, unknown>>): void {
    const question = readQuestion(event);
    const { actionId } = question;
    this.noteAsked(question);
    if (this.#open.size >= MAX_OPEN && !this.#open.has(actionId)) {
      this.#hooks?.onFailed(tooMany());
      return;
    }
    // An earlier attempt got the answer; the tool reads it from ANSWERS_DIR.
    if (this.#answered.has(actionId)) return;
    const prepared = this.#prepared.find(({ action }) => isNamed(question, action));
    // The tool has exited, and this is the rest of its output: no process waits, but the caller may have given the answer beforehand.
    if (this.#hooks === undefined) {
      if (prepared !== undefined) this.#enqueue(() => this.#tryPrepared(question, prepared));
      return;
    }
    const timeoutS = question.timeoutS ?? (question.blocking ? this.#defaultTimeoutS : undefined);
    const stopTimer =
      timeoutS === undefined ? () => {} : after(timeoutS * 1000, () => this.#timeUp(question, timeoutS));
    // The tool may ask the same question again: the first timer must not answer the second question.
    this.#remove(actionId);
    this.#add(question, stopTimer);
    if (question.schema !== undefined) this.#enqueue(() => this.#checkSchema(question));
    if (question.default !== undefined) this.#enqueue(() => this.#checkDefault(question));
    if (prepared !== undefined) this.#enqueue(() => this.#tryPrepared(question, prepared));
    else if (question.schema === undefined) this.#putToOthers(question);
    else
      this.#enqueue(async () => {
        if (this.#open.has(actionId)) this.#putToOthers(question);
      });
  }

  /**
   * Asks for the runner and not for the tool, which gets neither the question's answer nor a way to give it. A caller's prepared answers
   * do not count: only rules of the configuration do. Undefined when the attempt ends before an answer.
   */
  async askForRunner(event: NewEvent, timeoutS: number): Promise<unknown> {
    if (this.#hooks === undefined || this.#isClosed) return undefined;
    const question = readQuestion(this.#writer.log.append({ ...event, timeout_s: timeoutS }));
    const answered = new Promise<unknown>((settle) => {
      const stopTimer = after(timeoutS * 1000, () => this.#timeUp(question, timeoutS));
      this.#add(question, stopTimer, settle);
    });
    const ruled = this.#prepared.find(
      ({ action, source }) => action === question.action && source === 'policy',
    );
    if (ruled === undefined) this.#store(this.#reportState(question));
    else this.#enqueue(() => this.#tryPrepared(question, ruled));
    return answered;
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
    const from = { by, source, answerId: answer_id, ...(reason && { reason }) };
    this.#enqueue(async () => {
      const open = this.#open.get(action_id);
      const why = this.#answered.has(action_id) ? 'it has been answered already' : 'the question is not open';
      const value = open === undefined ? answer : answerTo(open.question, answer);
      const problem = open === undefined ? why : await problemOfAnswer(open.question, value);
      if (problem !== undefined) await this.#warn(action_id, problem, answer_id);
      else await this.#accept(open!.question, { ...from, value });
    });
  }

  /** A schema that cannot be used matches no answer. A tool that waits for one would wait in vain, if the question has no options. */
  async #checkSchema({ actionId, schema = {}, options = [], blocking }: Question): Promise<void> {
    const { schemaMistake } = await import('../../registry/schema-check.ts');
    const mistake = await schemaMistake(schema);
    if (mistake === undefined) return;
    if (!blocking || options.length > 0)
      return this.#warn(actionId, `no answer matches the schema of the question: ${mistake.why}`);
    this.#remove(actionId);
    this.#hooks?.onInvalid?.(actionId, {
      field: 'schema',
      expected: `a JSON Schema that can be used: ${mistake.why}`,
    });
  }

  /** A default that is no valid answer is not used. Its tool learns that before the time is up. */
  async #checkDefault(question: Question): Promise<void> {
    if (question.default === undefined || !this.#open.has(question.actionId)) return;
    const value = answerTo(question, question.default.value);
    const problem = await problemOfAnswer(question, value);
    question.default = problem === undefined ? { value } : undefined;
    if (problem !== undefined)
      await this.#warn(question.actionId, `the default of the question is not used: ${problem}`);
  }

  /** Checks a prepared answer like any other. If it is invalid, the question stays open for the other sources of answers. */
  async #tryPrepared(question: Question, prepared: PreparedAnswer): Promise<void> {
    const { by, source, reason } = prepared;
    const value = answerTo(question, prepared.answer);
    const problem = await problemOfAnswer(question, value);
    const hasExited = this.#hooks === undefined;
    if (!hasExited && !this.#open.has(question.actionId)) return;
    if (problem === undefined) {
      await this.#accept(question, { value, by, source, ...(reason && { reason }) });
      return;
    }
    await this.#warn(question.actionId, problem);
    if (!hasExited) this.#putToOthers(question);
  }

  /** Without a valid prepared answer, a blocking question makes the run wait, and the handler is called. */
  #putToOthers(question: Question): void {
    if (question.blocking) this.#store(this.#warnOfUnused(question));
    this.#store(this.#reportState(question));
    if (this.#handler !== undefined && !isRunnersQuestion(question.actionId))
      void this.#consult(this.#handler, question);
  }

  /** The run waits, and the caller has answered a question of nearly this name beforehand: its name is probably misspelt. */
  async #warnOfUnused({ action }: Question): Promise<void> {
    for (const given of this.#unused) {
      if (nearest(given.action, [action]) === undefined) continue;
      this.#unused.delete(given);
      await this.#warn(
        given.action,
        `this answer was given beforehand, and no question asked for it so far; the open question is '${action}'`,
      );
    }
  }

  async #consult(handler: AnswerHandler, question: Question): Promise<void> {
    // Meanwhile another answer may have been accepted, or the attempt may be over.
    const isOpen = () => this.#open.get(question.actionId)?.question === question;
    try {
      const given = await handler(question);
      if (given === undefined) return;
      const value = answerTo(question, jsonAnswer(given.value));
      this.#enqueue(async () => {
        const problem = await problemOfAnswer(question, value);
        if (!isOpen()) return;
        if (problem === undefined) await this.#accept(question, { value, by: given.by, source: 'library' });
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
    const settle = this.#open.get(actionId)?.settle;
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
    if (settle !== undefined) {
      settle(value);
      return;
    }
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

  #add(question: Question, stopTimer: StopGuard, settle?: (answer: unknown) => void): void {
    this.#open.set(question.actionId, { question, stopTimer, settle });
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
