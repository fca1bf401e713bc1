import type * as z from 'zod';
import type { Audience } from '../util/audience.ts';
import type { AppError } from './app-error.ts';
import type { ForwardedCommand } from './forwarded-command.ts';
import type { Interrupts } from './interrupts.ts';
import type { NextStep } from './next-step.ts';
import type { Person } from './person.ts';

/** What calling an operation may change. */
export type Effect = 'reads' | 'writes' | 'destroys';

/** One operation of an application, declared once; flags, help, catalog and envelope are generated from it. */
export interface Operation<C = unknown, I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType>
  extends OperationDescription<I, O> {
  run(input: z.output<I>, ctx: OperationContext<C>): Promise<OperationResult<z.output<O>>>;
  /**
   * For an operation that passes arguments through: the program that gets them, by the first positional. Throws when it
   * does not exist.
   */
  callee?(name: string, app: C): Promise<ForwardedCommand>;
}

/** What replaces a command. */
export interface Deprecation {
  /** The whole command that replaces it, to copy. */
  use: string;
  /** The version that deprecated it. */
  since?: string | undefined;
}

/** The declaration of an operation, without its implementation. */
export interface OperationDescription<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  /** Dotted `group.action`, e.g. `run.list`; the group is the category. */
  name: string;
  /** One sentence. */
  summary: string;
  effect: Effect;
  /** Input keys: without any of them it only reads, whatever its effect is. */
  readsWithout?: readonly string[];
  idempotent: boolean;
  /** For example `60/min`; null when there is none. */
  rateLimit: string | null;
  /** Every field has a `.describe()`. */
  input: I;
  /** The schema of `data`. */
  output: O;
  /** Input keys that positionals fill, in order; the last may be an array, which takes the rest. */
  positionals?: readonly string[];
  /** An array-of-string input key that receives, unparsed, every argument after the first positional. */
  passthrough?: string;
  /**
   * The key of `data` that is its main array (`--fields`, `--limit`, `--offset`, `count`); defaults to the only array.
   */
  list?: string;
  /** How many elements of `list` a command line answers with, unless it has `--limit` or `--max-tokens`. ACOR's own servers do the same. */
  pageSize?: number;
  /** A full invocation, shown first in help. */
  example: string;
  moreExamples?: readonly string[];
  /** Callers should use another command; this one works as before. */
  deprecated?: Deprecation;
  /** The description of its stream of lines, in one sentence, when it can write one instead of an envelope. */
  streams?: string;
}

/** The result of an operation. It writes nothing itself: each surface shows the result in its own way. */
export type OperationResult<T> = Answer<T> | DocumentResult<T> | BytesResult | EventsResult<T>;

/** One answer: data, or a failure that has data as well. */
export type Answer<T> = DataResult<T> | FailureResult<T>;

export interface DataResult<T> extends Facts {
  kind: 'data';
  data: T;
  /** The total number of elements, when the operation itself pages: its list is the `page` of the context. */
  total?: number;
  /** The key of the main array of this answer, where it is another one than that of the operation. */
  list?: string;
  /** The list is the `page` of the context, whose total may be unknown, and `next` leads to the rest. */
  isPage?: true;
  hasMore?: boolean;
  /** Of a page that is read on by a position in its data: what these and `next` are when the page is cut after an element. */
  cutAfter?(element: unknown): { data: object; next: readonly NextStep[] };
}

/** A text that is the product itself. A surface that needs an envelope shows `data` instead. */
export interface DocumentResult<T> extends Facts {
  kind: 'document';
  document: string;
  data: T;
}

/** Bytes that are the product itself, for a file or a pipe. Only for a reader who takes no envelope. */
export interface BytesResult {
  kind: 'bytes';
  bytes: AsyncIterable<Uint8Array>;
  /** The answer at a terminal, which bytes would disturb. */
  refusal: AppError;
}

/** A failure that has data as well; the data goes into `error.details`. */
export interface FailureResult<T> {
  kind: 'failure';
  error: AppError;
  data?: T;
  /** Defaults to the exit code of the error's row. */
  exit?: number;
  /** What the reader should know besides the error. */
  warnings?: readonly string[];
}

interface Facts {
  /** An answer with data ends with 0, unless the caller asked for the exit code of another program: this one. */
  programExit?: number;
  /** What leads on. */
  next?: readonly NextStep[];
  /** What the reader of the data should know. */
  warnings?: readonly string[];
  /** Of a dry run: the token of what it would do. */
  plan?: string;
  /** The estimated number of tokens of the answer's text. */
  tokens?: number;
}

/**
 * Events as they arrive, and the outcome. The work continues at its own pace whether or not the events are read: a
 * reader that is slow or stops affects only its own view.
 */
export interface EventsResult<T> {
  kind: 'events';
  /**
   * Chunks of whole lines, JSON objects in UTF-8, each chunk with a line feed at its end. They are bytes so that a
   * surface can copy them without parsing. Iterate at most once.
   */
  events: AsyncIterable<Uint8Array>;
  /** False when the caller only wants the final answer. */
  stream: boolean;
  /** What a live view needs besides the events; the operation defines its type. */
  about?: () => Promise<unknown>;
  /** Resolves when the work has ended, or the operation has stopped following it. */
  ended(): Promise<StreamEnd<T>>;
}

/** The outcome of a stream of events. */
export interface StreamEnd<T> {
  /** The answer to a caller that reads no events. Its exit code is also that of the stream. */
  answer: Answer<T>;
  /** What leads on, where the events do not contain it. */
  next?: readonly NextStep[];
  /** Lines for a reader of the events: what the answer contains and the events do not. */
  notes?: string[];
}

/** A part of a list: at most `limit` elements from `offset`. */
export interface Page {
  limit: number | undefined;
  offset: number | undefined;
}

/** The arguments of an operation besides its input. */
export interface OperationContext<C> {
  app: C;
  signal: AbortSignal;
  audience: Audience;
  /** Whether the reader takes data: an envelope, or events as JSON lines. Otherwise the answer is rendered as text. */
  structured: boolean;
  /**
   * The person at the terminal, for an operation that must ask; null when stdin or stdout is not a terminal, and for
   * agents and servers.
   */
  person: Person | null;
  interrupts: Interrupts;
  /** The input keys that the caller gave itself. */
  given?: ReadonlySet<string>;
  /** The requested part of the list. An operation that ignores it returns the whole list. */
  page: Page;
  cwd: string;
  env: Record<string, string | undefined>;
  readStdin(): Promise<string>;
  /** All of standard input, whatever its bytes are. Undefined for a surface without one. */
  readStdinBytes?: (() => Promise<Uint8Array>) | undefined;
  /** Whether standard input holds bytes that are not read yet. Undefined for a surface without one. */
  hasUnreadStdin?: (() => Promise<boolean>) | undefined;
  /** Shows people one line besides the answer: on stderr, if there is one. */
  note(line: string): void;
}

/** How an application performs its operations, in place of their `run`. */
export type PerformOperation<C> = (
  op: Operation<C>,
  input: Record<string, unknown>,
  ctx: OperationContext<C>,
) => Promise<OperationResult<unknown>>;

/** The data of an operation's answer. */
export type DataOf<Op extends { output: z.ZodType }> = z.output<Op['output']>;

/** Declares an operation; its schemas determine the types of `run`. */
export function defineOperation<C, I extends z.ZodObject, O extends z.ZodType>(
  op: Operation<C, I, O>,
): Operation<C, I, O> {
  return op;
}
