import type { Person, ProgramQuestion } from '../../compose/person.ts';
import type { Screen } from '../../compose/screen.ts';
import { safeLine } from '../../compose/terminal-text.ts';

/** A live view that dialogs interrupt. */
export interface View {
  /** Prints a line permanently. */
  emit(line: string): void;
  putAside(): Promise<void>;
  takeUp(): void;
}

/**
 * The person at the terminal. A live view releases the screen for each question, and the prompts are loaded with the
 * first one.
 */
export class TerminalPerson {
  #view: View | undefined;

  /** Sets the current live view, or none. */
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
    // On a closed terminal a prompt may never end.
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
