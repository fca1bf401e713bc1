import type { Person, ProgramQuestion } from '../../compose/person.ts';
import type { Screen } from '../../compose/screen.ts';
import { safeLine } from '../../compose/terminal-text.ts';

/** A live view, as the dialogs that interrupt it see it. */
export interface View {
  /** Shows a line, for good. */
  emit(line: string): void;
  putAside(): Promise<void>;
  takeUp(): void;
}

/** The person at the terminal: a view that is drawn makes room for each question, and the prompts are loaded with the first one. */
export class TerminalPerson {
  #view: View | undefined;

  /** Names the view that is drawn from now on, or none. */
  watch(view: View | undefined): void {
    this.#view = view;
  }

  /** The person as operations ask them; `note` writes a line to stderr. */
  at(screen: Screen, note: (line: string) => void): Person {
    return {
      askForText: async (lines, message) =>
        (await import('./prompts.ts')).promptForText(lines, message, screen.live),
      askForSecret: async (message) => (await import('./prompts.ts')).promptForSecret(message, screen.live),
      ...(screen.live && { ask: this.#ask }),
      say: (line) => (this.#view === undefined ? note(line) : this.#view.emit(safeLine(line))),
    };
  }

  readonly #ask = async (
    question: ProgramQuestion,
    check: (value: unknown) => string | undefined,
    signal: AbortSignal,
  ): Promise<{ value: unknown } | undefined> => {
    const { promptFor } = await import('./question-prompt.ts');
    await this.#view?.putAside();
    // On a terminal that is gone a prompt may never end.
    const left = new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => resolve(undefined), { once: true }),
    );
    try {
      return await Promise.race([promptFor(question, check, signal), left]);
    } finally {
      this.#view?.takeUp();
    }
  };
}
