import type { AcorError } from '../../../protocol/acor-error.ts';
import type { Exit } from '../../process/runtime.ts';
import type { OverLimit } from './resources/over-limit.ts';

/** Why an attempt is over. Guards, the cancel request and the exit of the process make one each; `EndingRace` keeps the first. */
export type Ending =
  | { kind: 'exited'; exit: Exit }
  /** It sent its last message and did not exit. */
  | { kind: 'lingered' }
  | { kind: 'deadline'; timeoutS: number; outputClosed: boolean }
  | { kind: 'silent'; silentForS: number }
  | { kind: 'output-limit'; maxBytes: number }
  | OverLimit
  | { kind: 'unanswered'; actionId: string; timeoutS: number }
  | { kind: 'cancelled'; reason: string }
  | { kind: 'store-failed'; error: AcorError };

/** Whether the program ended by itself: it exited, or sent its last message. */
export function hasEndedItself({ kind }: Ending): boolean {
  return kind === 'exited' || kind === 'lingered';
}

/** Endings that come too late for a tool that has exited while the sandbox still ends what it left behind. */
const IS_TOO_LATE_AFTER_EXIT: readonly Ending['kind'][] = [
  'lingered',
  'deadline',
  'silent',
  'unanswered',
  'over-limit',
];

/** The guards and the process race to end an attempt: the first ending wins, once. */
export class EndingRace {
  readonly first: Promise<Ending>;
  #winner: Ending | undefined;
  #settle!: (ending: Ending) => void;
  #hasExited: () => boolean = () => false;

  constructor() {
    this.first = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get winner(): Ending | undefined {
    return this.#winner;
  }

  /** `hasExited` says whether the tool has exited, which can be before its sandbox does. */
  watchExit(hasExited: () => boolean): void {
    this.#hasExited = hasExited;
  }

  end(ending: Ending): void {
    if (this.#winner !== undefined) return;
    if (IS_TOO_LATE_AFTER_EXIT.includes(ending.kind) && this.#hasExited()) return;
    this.#winner = ending;
    this.#settle(ending);
  }
}
