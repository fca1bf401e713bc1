import type { AcorError } from '../../../protocol/acor-error.ts';
import type { Exit } from '../../process/runtime.ts';
import type { OverLimit } from './resources/over-limit.ts';

/** Why an attempt is over. The first one counts; all later ones come to nothing. */
export type Ending =
  | { kind: 'exited'; exit: Exit }
  /** It had said its last word, and stayed. */
  | { kind: 'lingered' }
  | { kind: 'deadline'; timeoutS: number; outputClosed: boolean }
  | { kind: 'silent'; silentForS: number }
  | { kind: 'output-limit'; maxBytes: number }
  | OverLimit
  | { kind: 'unanswered'; actionId: string; timeoutS: number }
  | { kind: 'cancelled'; reason: string }
  | { kind: 'store-failed'; error: AcorError };

/** Whether the program came to its own end: it exited, or had said its last word. */
export function hasEndedItself({ kind }: Ending): boolean {
  return kind === 'exited' || kind === 'lingered';
}

/** What can no longer become of a tool that has exited, while what it left behind is still being ended. */
const IS_TOO_LATE_AFTER_EXIT: readonly Ending['kind'][] = [
  'lingered',
  'deadline',
  'silent',
  'unanswered',
  'over-limit',
];

/** Where the guards and the process race: the first ending wins, once. */
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

  /** `hasExited` tells of a tool that has ended before its sandbox has. */
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
