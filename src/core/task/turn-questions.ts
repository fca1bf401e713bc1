import type { RunStore, RunWriter } from '../ports/run-store.ts';
import { questionsOf } from '../run/answers/open-questions.ts';
import { type Question, readQuestion } from '../run/answers/question.ts';
import { after } from '../run/attempt/guards/guard.ts';
import { invalidQuestion, type Outcome, stopped } from '../run/outcome.ts';
import type { RunLimits } from '../run/plan/run-plan.ts';
import type { AttemptOptions, TurnHooks } from '../run/run-executor.ts';

/** Formats an answer for the agent. */
export interface GivenAnswer {
  question: string;
  answer: string;
  /** The answer as it was given. */
  value: unknown;
}

type Asked = { event: Readonly<Record<string, unknown>>; question: Question };

/** The questions of one turn. The asking program has exited, so they wait for answers, which go into the next turn. */
export class TurnQuestions implements TurnHooks {
  readonly #asked = new Map<string, Asked>();
  readonly #given: GivenAnswer[] = [];
  #onNews: () => void = () => {};

  get isAsking(): boolean {
    return this.#asked.size > 0;
  }

  asked(event: Readonly<Record<string, unknown>>): void {
    const question = readQuestion(event);
    this.#asked.set(question.actionId, { event, question });
  }

  delivered(line: string): void {
    const { action_id: actionId, answer } = JSON.parse(line) as { action_id: string; answer: unknown };
    const asked = this.#asked.get(actionId);
    if (asked === undefined) return;
    this.#asked.delete(actionId);
    this.#given.push(inWords(asked.question, answer));
    this.#onNews();
  }

  /**
   * Waits until all questions are answered. No work is left meanwhile, so each question now blocks the run. Returns the
   * answers, which may be empty when only optional questions stayed open; or the end of the run.
   */
  async answers(
    options: AttemptOptions,
    log: RunWriter['log'],
    limits: RunLimits,
  ): Promise<GivenAnswer[] | Outcome> {
    if (this.#asked.size === 0) {
      await options.questions.end();
      return this.#given;
    }
    // An optional question blocks the run from now on, and its followers must see that.
    for (const asked of this.#asked.values()) {
      if (asked.event['blocking'] === true) continue;
      const { seq: _seq, ts: _ts, ...event } = asked.event;
      log.append({ ...event, type: 'action_required', ts: new Date().toISOString(), blocking: true });
    }
    const end = await this.#wait(options, limits);
    await options.questions.end();
    return end ?? this.#given;
  }

  async #wait(
    { questions, cancelled, leftMs }: AttemptOptions,
    limits: RunLimits,
  ): Promise<Outcome | undefined> {
    let stopTimer = () => {};
    const end = new Promise<Outcome | undefined>((resolve, reject) => {
      const look = () => {
        stopTimer();
        if (questions.isClockStopped && limits.waitingStopsDeadline) return;
        const left = leftMs();
        if (left > 0) stopTimer = after(left, look);
        else
          resolve(
            stopped(
              'E_DEADLINE',
              `the task timed out after ${limits.timeoutS} s while it waited for an answer`,
            ),
          );
      };
      this.#onNews = () => {
        if (this.#asked.size === 0) resolve(undefined);
      };
      questions.begin({
        deliver: (line) => this.delivered(line),
        answerFields: () => ({}),
        onResumed: look,
        onUnanswered: (actionId, timeoutS) => {
          const wasNeeded = this.#asked.get(actionId)?.event['blocking'] === true;
          this.#asked.delete(actionId);
          if (wasNeeded)
            resolve(stopped('E_ACTION_TIMEOUT', `'${actionId}' was not answered within ${timeoutS} s`));
          else this.#onNews();
        },
        onInvalid: (actionId, problem) => resolve(invalidQuestion({ actionId, problem })),
        onFailed: reject,
      });
      void cancelled.then((message) => resolve(cancellation(message)));
      for (const { event } of [...this.#asked.values()]) questions.ask({ ...event, blocking: true });
      look();
    });
    try {
      return await end;
    } finally {
      stopTimer();
    }
  }
}

function cancellation(message: string): Outcome {
  return { state: 'cancelled', code: null, message, hint: null, retryable: false, byRunner: false };
}

/** Names an option by its number and its label, as the agent wrote it. */
export function inWords({ msg, action, options }: Question, answer: unknown): GivenAnswer {
  const chosen = options?.find(({ id }) => id === answer);
  const label = chosen?.label === undefined ? '' : ` (${chosen.label})`;
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return {
    question: msg ?? action,
    answer: chosen === undefined ? text : `option ${chosen.id}${label}`,
    value: answer,
  };
}

/** All answers of a run so far, in the order of the questions. */
export async function answersGiven(store: RunStore, runId: string): Promise<GivenAnswer[]> {
  const questions = await questionsOf(store, runId);
  return questions.flatMap(({ asked, answered }) =>
    answered === undefined ? [] : [inWords(readQuestion(asked), answered['answer'])],
  );
}
