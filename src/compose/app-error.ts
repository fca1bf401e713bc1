import type { NextStep, OperationStep } from './next-step.ts';

/** The optional parts of an AppError. */
export interface AppErrorOptions {
  /** The exact fix; defaults to the hint of the code's row in the error table. */
  hint?: string | undefined;
  /** 1 failed, 2 something must be provided first; defaults to the exit code of the code's row. */
  exit?: 1 | 2 | undefined;
  /** Whether a retry may help this time; defaults to the code's row. */
  retryable?: boolean | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
  /** What fixes it or leads on; without it and without a hint, the steps of the code's row apply. */
  next?: readonly NextStep[] | undefined;
  cause?: unknown;
}

/** A failed operation: a stable code, what happened and where, and the exact fix. */
export class AppError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly exit: 1 | 2 | undefined;
  readonly retryable: boolean | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly next: readonly NextStep[] | undefined;

  constructor(code: string, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.hint = options.hint;
    this.exit = options.exit;
    this.retryable = options.retryable;
    this.details = options.details;
    this.next = options.next;
  }
}

/** The exit codes of a command: done, failed, or something must be provided first. */
export const EXIT = { done: 0, failed: 1, blocked: 2 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One problem of a command line. */
export interface UsageProblem {
  /** `--limit`, `<tool>`, `--input-json`. */
  parameter: string;
  /** A sentence that is complete without context. */
  message: string;
  fix?: string;
}

/** That a parameter has no values, in words, and the operation whose answer says how to make one. */
export interface NoneYet {
  words: string;
  list: OperationStep;
}

/**
 * One E_USAGE with every problem. `invocation` is the program and its command, whose help the hint names; a surface
 * without command lines passes none. `example` is shown when no problem has a fix, and it has a parameter that a problem names.
 * `none` is for a missing parameter that has no values yet.
 */
export function usageError(
  problems: readonly UsageProblem[],
  invocation?: string,
  example?: string,
  none?: NoneYet,
): AppError {
  const messages = problems.map((problem) => problem.message);
  const message =
    messages.length === 1 ? messages[0]! : `${messages.length} problems: ${messages.join('; ')}`;
  const fixes = [...new Set(problems.flatMap((problem) => problem.fix ?? []))];
  if (
    fixes.length === 0 &&
    example !== undefined &&
    problems.some(({ parameter }) => shows(example, parameter))
  )
    fixes.push(`For example: ${example}`);
  if (none !== undefined) fixes.push(none.words);
  const help = invocation === undefined ? [] : [`${invocation} --help`];
  if (fixes.length === 0 && help.length === 0) fixes.push('Correct what the message names.');
  return new AppError('E_USAGE', message, {
    hint: help.reduce(withHelp, fixes.join(' ')),
    exit: EXIT.failed,
    details: { problems },
    next: [
      ...(none === undefined ? [] : [none.list]),
      ...help.map((command) => ({ command, why: 'Show how the command is called.' })),
    ],
  });
}

/** An example has a value for each required argument, and only some flags. */
function shows(example: string, parameter: string): boolean {
  return parameter.startsWith('<') || example.split(' ').includes(parameter);
}

/** A command at the end of a hint stays without punctuation, because it is copied. */
function withHelp(hint: string, command: string): string {
  return hint === '' || /[.?!:]$/.test(hint) ? `${hint} See: ${command}`.trim() : `${hint} (see: ${command})`;
}

/** The text of a suggestion, or an empty one. */
export function didYouMean(name: string | undefined): { fix?: string } {
  return name === undefined ? {} : { fix: `Did you mean ${name}?` };
}
