import type * as z from 'zod';
import type { AppError } from './app-error.ts';
import type { Audience } from './audience.ts';
import type { ForwardedCommand } from './forwarded-command.ts';
import type { Interrupts } from './interrupts.ts';
import type { NextStep } from './next-step.ts';
import type { Person } from './person.ts';

/** What calling an operation does to the world. */
export type Effect = 'reads' | 'writes' | 'destroys';

/** One thing an application can do, described once; flags, help, catalog and envelope are made from it. */
export interface Operation<C = unknown, I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType>
  extends OperationDescription<I, O> {
  run(input: z.output<I>, ctx: OperationContext<C>): Promise<OperationResult<z.output<O>>>;
  /** For an operation that passes arguments through: the program that gets them, by the first positional. Throws when there is none. */
  callee?(name: string, app: C): Promise<ForwardedCommand>;
}

/** What is said about an operation, without what it does. */
export interface OperationDescription<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** Dotted `group.action`, e.g. `run.list`; the group is the category. */
  name: string;
  /** One sentence. */
  summary: string;
  effect: Effect;
  idempotent: boolean;
  /** Such as `60/min`; null when there is none. */
  rateLimit: string | null;
  /** Every field carries `.describe()`. */
  input: I;
  /** The schema of `data`. */
  output: O;
  /** Input keys filled by position, in order; the last may be an array, which absorbs the rest. */
  positionals?: readonly string[];
  /** An array-of-string input key that receives, untouched, every argument after the first positional. */
  passthrough?: string;
  /** The key of `data` that is its main array (`--fields`, `--limit`, `--offset`, `count`); without it, the only array. */
  list?: string;
  /** A full invocation, shown first in help. */
  example: string;
  moreExamples?: readonly string[];
  /** What the lines are, in one sentence, when it may write a stream of lines instead of an envelope. */
  streams?: string;
}

/** What an operation returns. It writes nowhere: each surface shows the result in its own way. */
export type OperationResult<T> = Answer<T> | DocumentResult<T> | EventsResult<T>;

/** One answer: data, or a failure that has data as well. */
export type Answer<T> = DataResult<T> | FailureResult<T>;

export interface DataResult<T> extends Facts {
  kind: 'data';
  data: T;
  /** How many there are in all, when the operation itself pages: its list is the `page` that the context asks for. */
  total?: number;
  hasMore?: boolean;
}

/** A text that is the product itself. A surface that was asked for an envelope shows `data` instead. */
export interface DocumentResult<T> extends Facts {
  kind: 'document';
  document: string;
  data: T;
}

/** A failure that has data as well; the data goes into `error.details`. */
export interface FailureResult<T> {
  kind: 'failure';
  error: AppError;
  data?: T;
  /** Without it, the exit code of the error's row. */
  exit?: number;
}

interface Facts {
  /** 0 without it; a code that `EXIT` does not have only where the caller asked for another program's own. */
  exit?: number;
  /** What leads on. */
  next?: readonly NextStep[];
  /** About how many tokens the text of the answer is for a language model. */
  tokens?: number;
}

/**
 * Events as they come, and how it ended. The work goes on whether or not the events are read, and at its own pace: a reader that is
 * slow, or stops reading, changes nothing but what it sees.
 */
export interface EventsResult<T> {
  kind: 'events';
  /**
   * Chunks of whole lines, JSON objects in UTF-8, each chunk with a line feed at its end. They are bytes so that a surface can copy
   * them without parsing. To be iterated at most once.
   */
  events: AsyncIterable<Uint8Array>;
  /** False when the caller asked for nothing but the answer at the end. */
  stream: boolean;
  /** What a live view needs to know beside the events; the operation says of which type. */
  about?: () => Promise<unknown>;
  /** Settles once the work is over, or the operation has stopped following it. */
  ended(): Promise<StreamEnd<T>>;
}

/** How a stream of events ended. */
export interface StreamEnd<T> {
  /** What is answered to a caller that reads no events. Its exit code is also that of the stream. */
  answer: Answer<T>;
  /** What leads on, where the events themselves do not hold it. */
  next?: readonly NextStep[];
  /** What the answer holds and the events do not, in lines for a reader of the events. */
  notes?: string[];
}

/** A part of a list: so many elements at most, after so many others. */
export interface Page {
  limit: number | undefined;
  offset: number | undefined;
}

/** What an operation is given beside its input. */
export interface OperationContext<C> {
  app: C;
  signal: AbortSignal;
  audience: Audience;
  /** Whether the reader takes data: an envelope, or events as JSON lines. Otherwise the answer is rendered as text. */
  structured: boolean;
  /** The person at the terminal, for an operation that must ask; null where stdin or stdout is no terminal, and for agents and servers. */
  person: Person | null;
  interrupts: Interrupts;
  /** The part of the list that the caller asks for. An operation that does not heed it answers with the whole list. */
  page: Page;
  cwd: string;
  env: Record<string, string | undefined>;
  readStdin(): Promise<string>;
  /** Tells people one line beside the answer: on stderr, where there is one. */
  note(line: string): void;
}

/** The data that an operation answers with. */
export type DataOf<Op extends { output: z.ZodType }> = z.output<Op['output']>;

/** Declares an operation; the types of `run` follow from its schemas. */
export function defineOperation<C, I extends z.ZodObject, O extends z.ZodType>(
  op: Operation<C, I, O>,
): Operation<C, I, O> {
  return op;
}
