import type { Terminal } from '../compose/terminal.ts';
import { TerminalPerson } from './dialog/terminal-person.ts';
import { presenterOf } from './present/index.ts';

/** The renderings and prompts of one command for the person at the terminal. */
export function terminal(): Terminal {
  const person = new TerminalPerson();
  return {
    presenter: (operation) => presenterOf(operation, person),
    person: (screen, note) => person.at(screen, note),
  };
}
