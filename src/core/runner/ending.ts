import type { AcorError } from '../../protocol/acor-error.ts';
import type { Exit } from '../process/runtime.ts';

/** Why an attempt is over. The first one counts; all later ones come to nothing. */
export type Ending =
  | { kind: 'exited'; exit: Exit }
  | { kind: 'deadline'; timeoutS: number; outputClosed: boolean }
  | { kind: 'silent'; silentForS: number }
  | { kind: 'output-limit'; maxBytes: number }
  | { kind: 'unanswered'; actionId: string; timeoutS: number }
  | { kind: 'cancelled'; reason: string }
  | { kind: 'store-failed'; error: AcorError };

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

  /** A tool that has exited is no longer late or silent, while what it left behind is still being ended. */
  watchExit(hasExited: () => boolean): void {
    this.#hasExited = hasExited;
  }

  end(ending: Ending): void {
    if (this.#winner !== undefined) return;
    const isClock = ending.kind === 'deadline' || ending.kind === 'silent' || ending.kind === 'unanswered';
    if (isClock && this.#hasExited()) return;
    this.#winner = ending;
    this.#settle(ending);
  }
}
