import type { GlobalFlags } from './globals.ts';
import type { Interrupts } from './interrupts.ts';
import type { EventsResult } from './operation.ts';
import type { Person } from './person.ts';
import type { Screen } from './screen.ts';

/** The renderings and prompts of an application, loaded only when a person reads. */
export interface Terminal {
  /** The presenter of an operation's results; undefined for the general rendering. */
  presenter(operation: string): Promise<Presenter | undefined>;
  /** The person at this screen; `note` writes a line to stderr. */
  person(screen: Screen, note: (line: string) => void): Person;
}

/**
 * Renders the results of one operation. Only events are passed unchanged: all other strings are already safe to print.
 */
export interface Presenter {
  /** The data of an answer. */
  data?(data: never, screen: Screen): string;
  /** Writes an answer that is too long to be one text; false for any other answer. Its data are as they came. */
  write?(data: never, fd: number): Promise<boolean>;
  /** What is written to stderr of a failure's data, before the failure itself. */
  failure?(data: never, screen: Screen): string[];
  /** Writes what a failed program had answered, from the details of its failure: as it came, for stdout. */
  failed?(details: unknown, place: Pick<Place, 'screen' | 'stdoutFd'>): Promise<void>;
  /** Shows events as they arrive, until they end or the reader has gone; `answer` requests the final answer as well. */
  events?(stream: EventsResult<unknown>, place: Place): Promise<'shown' | 'answer'>;
}

/** Where events are shown. */
export interface Place {
  screen: Screen;
  stdoutFd: number;
  signal: AbortSignal;
  cwd: string;
  interrupts: Interrupts;
  /** A command of the application as it works where the caller is: with the caller's `--cwd`. */
  fromCaller(command: string): string;
  /** The part of the list of events that the caller asked for. */
  part: Pick<GlobalFlags, 'limit' | 'offset' | 'maxTokens'>;
}
