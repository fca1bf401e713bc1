import type { Terminal } from '../compose/terminal.ts';
import { TerminalPerson } from './dialog/terminal-person.ts';
import { presenterOf } from './present/index.ts';

/** What a person at the terminal sees and is asked. One for each command. */
export function terminal(): Terminal {
  const person = new TerminalPerson();
  return {
    presenter: (operation) => presenterOf(operation, person),
    person: (screen, note) => person.at(screen, note),
  };
}
