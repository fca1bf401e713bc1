import type { MessageProblem } from '../../../protocol/v1/check-message.ts';

/** How an attempt delivers answers to its tool, and what it does when no answer comes. */
export interface QuestionHooks {
  deliver(line: string): void;
  /** Fields that are added to an answer for the tool, such as a moved deadline. */
  answerFields(): Readonly<Record<string, unknown>>;
  /** The run stopped waiting for answers. */
  onResumed(): void;
  onUnanswered(actionId: string, timeoutS: number): void;
  /** The tool waits for the answer to a question that can get none. Absent where ACOR asks: its questions are valid. */
  onInvalid?(actionId: string, problem: MessageProblem): void;
  /** An answer could not be stored. */
  onFailed(error: unknown): void;
}
