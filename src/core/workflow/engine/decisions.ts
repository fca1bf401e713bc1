import type { RunWriter } from '../../ports/run-store.ts';
import { readAnswerFile } from '../../run/answers/answer-files.ts';
import { readQuestion } from '../../run/answers/question.ts';
import type { Questions } from '../../run/answers/questions.ts';
import type { RunWorkspace } from '../../run/workspace.ts';

/** The outcome of a question that the workflow asks. */
export type Decided = { answer: unknown } | { unansweredForS: number } | 'stopped';

/** Asks the questions of a workflow (contract §4) and lets each asking step wait for its answer. */
export class Decisions {
  readonly #questions: Questions;
  readonly #writer: RunWriter;
  readonly #workspace: RunWorkspace;
  readonly #asked = new Map<string, (decided: Decided) => void>();

  constructor(
    questions: Questions,
    writer: RunWriter,
    workspace: RunWorkspace,
    on: { goingOn(): void; failed(error: unknown): void },
  ) {
    this.#questions = questions;
    this.#writer = writer;
    this.#workspace = workspace;
    questions.begin({
      deliver: (line) => {
        const { action_id, answer } = JSON.parse(line);
        this.#settle(action_id, { answer });
      },
      answerFields: () => ({}),
      onResumed: on.goingOn,
      onUnanswered: (actionId, timeoutS) => {
        questions.withdraw(actionId);
        this.#settle(actionId, { unansweredForS: timeoutS });
      },
      onFailed: on.failed,
    });
  }

  /** Asks, unless an earlier attempt already has the answer, and waits for the answer. */
  async ask(
    question: { action_id: string; action: string; [key: string]: unknown },
    signal: AbortSignal,
  ): Promise<Decided> {
    const { log } = this.#writer;
    const filed = readAnswerFile(this.#workspace, question.action_id);
    this.noteAsked(question);
    if (filed !== undefined) return { answer: filed.value };
    if (signal.aborted) return 'stopped';
    const event = log.append({ type: 'action_required', blocking: true, ...question });
    await log.flush();
    if (signal.aborted) return 'stopped';
    return new Promise((resolve) => {
      const stop = () => {
        this.#questions.withdraw(question.action_id);
        this.#settle(question.action_id, 'stopped');
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#asked.set(question.action_id, (decided) => {
        signal.removeEventListener('abort', stop);
        resolve(decided);
      });
      this.#questions.ask(event);
    });
  }

  /** Whether an answer that was given beforehand answers each question with this action. */
  isAnsweredBeforehand(action: string): boolean {
    return this.#questions.isAnsweredBeforehand(action);
  }

  /** The workflow or a child asked a question, for which there may be an answer that was given beforehand. */
  noteAsked(event: Readonly<Record<string, unknown>>): void {
    this.#questions.noteAsked(readQuestion(event));
  }

  /** A child waits for an answer, so the workflow waits too. */
  follow(event: Readonly<Record<string, unknown>>): void {
    const question = readQuestion(event);
    if (question.blocking) this.#questions.follow(question);
  }

  withdraw(actionId: string): void {
    this.#questions.withdraw(actionId);
  }

  #settle(actionId: string, decided: Decided): void {
    const settle = this.#asked.get(actionId);
    this.#asked.delete(actionId);
    settle?.(decided);
  }
}
