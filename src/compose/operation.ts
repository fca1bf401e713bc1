import type * as z from 'zod';
import type { AppError } from './app-error.ts';
import type { Audience } from './audience.ts';
import type { ForwardedCommand } from './forwarded-command.ts';
import type { NextStep } from './next-step.ts';
import type { Screen } from './screen.ts';

/** What calling an operation does to the world. */
export type Effect = 'reads' | 'writes' | 'destroys';

/** One thing an application can do, described once; flags, help, catalog and envelope are made from it. */
export interface Operation<C = unknown, I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType>
  extends OperationDescription<I, O> {
  run(input: z.output<I>, ctx: OperationContext<C>): Promise<OperationResult<z.output<O>>>;
  /** Shows `data` to a person at a terminal; without it a general rendering is used. The strings are already safe to print. */
  render?(data: z.output<O>, screen: Screen): string;
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

/** How an operation ended. */
export type OperationResult<T> =
  | {
      kind: 'data';
      data: T;
      /** The text that is the product itself: printed as it is, unless an envelope is asked for by a flag. */
      document?: string;
      /** 0 unless said otherwise; a code that is none of `EXIT` only where the caller asked for another program's own. */
      exit?: number;
      /** What leads on. */
      next?: readonly NextStep[];
      /** How many there are in all, when the operation itself pages. */
      total?: number;
      hasMore?: boolean;
      /** About how many tokens the text of the answer is for a language model. */
      tokens?: number;
    }
  /** A failure that has data as well; the data goes into `error.details`. */
  | {
      kind: 'failure';
      error: AppError;
      data?: T;
      /** That of the error's code unless said otherwise. */
      exit?: number;
    }
  /** The operation wrote stdout itself; `data` is for another operation that is built on it, and is not written. */
  | { kind: 'streamed'; exit: number; data?: T };

/** What an operation is given beside its input. */
export interface OperationContext<C> {
  app: C;
  signal: AbortSignal;
  audience: Audience;
  /** The person's screen; null when stdout gets an envelope. */
  screen: Screen | null;
  /** Whether stdout gets an envelope (or, for an operation that streams, machine-readable lines). */
  structured: boolean;
  /** Whether a question may be asked: a person sits at both stdin and stdout. */
  interactive: boolean;
  cwd: string;
  env: Record<string, string | undefined>;
  stdoutFd: number;
  readStdin(): Promise<string>;
  /** Writes one line for people to stderr. */
  note(line: string): void;
}

/** Declares an operation; the types of `run` and `render` follow from its schemas. */
export function defineOperation<C, I extends z.ZodObject, O extends z.ZodType>(
  op: Operation<C, I, O>,
): Operation<C, I, O> {
  return op;
}
