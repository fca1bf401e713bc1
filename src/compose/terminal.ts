import type { Interrupts } from './interrupts.ts';
import type { EventsResult } from './operation.ts';
import type { Person } from './person.ts';
import type { Screen } from './screen.ts';

/** What an application shows to people and asks them, loaded only where a person reads. */
export interface Terminal {
  /** How the results of an operation are shown; undefined for the general rendering. */
  presenter(operation: string): Promise<Presenter | undefined>;
  /** The person at this screen; `note` writes a line to stderr. */
  person(screen: Screen, note: (line: string) => void): Person;
}

/** Renders the results of one operation. Only events are given as they came: all other strings are safe to print already. */
export interface Presenter {
  /** The data of an answer. */
  data?(data: never, screen: Screen): string;
  /** What is written to stderr of a failure's data, before the failure itself. */
  failure?(data: never, screen: Screen): string[];
  /** Shows events as they come, until they end or nobody reads; `answer` asks that the answer be shown as well. */
  events?(stream: EventsResult<unknown>, place: Place): Promise<'shown' | 'answer'>;
}

/** Where events are shown. */
export interface Place {
  screen: Screen;
  stdoutFd: number;
  signal: AbortSignal;
  cwd: string;
  interrupts: Interrupts;
}
