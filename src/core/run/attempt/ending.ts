import type { AcorError } from '../../../protocol/acor-error.ts';
import type { MessageProblem } from '../../../protocol/v1/check-message.ts';
import type { OverBudget } from '../../cost/run-spending.ts';
import type { Exit } from '../../process/runtime.ts';
import type { OverLimit } from './resources/over-limit.ts';

/** Why an attempt ended. Guards, a cancel request and the exit of the process each report one; `EndingRace` keeps the first. */
export type Ending =
  | { kind: 'exited'; exit: Exit }
  /** The tool sent its last message and did not exit. */
  | { kind: 'lingered' }
  /** `question` is the action of the one that the tool waited for. */
  | { kind: 'deadline'; timeoutS: number; outputClosed: boolean; question?: string | undefined }
  | { kind: 'silent'; silentForS: number }
  | { kind: 'output-limit'; maxBytes: number }
  | OverLimit
  | OverBudget
  | { kind: 'unanswered'; actionId: string; timeoutS: number }
  /** The tool waits for the answer to a question that is invalid, and so is never asked. */
  | { kind: 'invalid-question'; actionId: string; problem: MessageProblem }
  | { kind: 'cancelled'; reason: string }
  | { kind: 'store-failed'; error: AcorError };

/** Whether the program ended by itself: it exited, or sent its last message. */
export function hasEndedItself({ kind }: Ending): boolean {
  return kind === 'exited' || kind === 'lingered';
}

/** Endings that are ignored once the tool has exited, while the sandbox still kills the processes that it left. */
const IS_TOO_LATE_AFTER_EXIT: readonly Ending['kind'][] = [
  'lingered',
  'deadline',
  'silent',
  'unanswered',
  'invalid-question',
  'over-limit',
  'over-budget',
];

/** Keeps the first ending that a guard, a cancel request or the process reports, and ignores later ones. */
export class EndingRace {
  #winner: Ending | undefined;
  readonly #first = Promise.withResolvers<Ending>();
  #hasExited: () => boolean = () => false;

  get first(): Promise<Ending> {
    return this.#first.promise;
  }

  get winner(): Ending | undefined {
    return this.#winner;
  }

  /** `hasExited` reports whether the tool has exited, which can be before its sandbox exits. */
  watchExit(hasExited: () => boolean): void {
    this.#hasExited = hasExited;
  }

  end(ending: Ending): void {
    if (IS_TOO_LATE_AFTER_EXIT.includes(ending.kind) && this.#hasExited()) return;
    this.endAsExit(ending);
  }

  /** Takes what the exit of the process means, whatever it is. */
  endAsExit(ending: Ending): void {
    if (this.#winner !== undefined) return;
    this.#winner = ending;
    this.#first.resolve(ending);
  }
}
