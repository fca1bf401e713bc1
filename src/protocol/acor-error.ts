import type { NextStep } from './next-steps.ts';

/** A failed operation: a code from the error table, what happened and where, and the exact fix. */
export class AcorError extends Error {
  static {
    // A bundler renames classes, and Node shows the name of the class of an uncaught error.
    Object.defineProperty(AcorError, 'name', { value: 'AcorError' });
  }

  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Next steps that fix it or lead on. */
  readonly next: readonly NextStep[] | undefined;

  constructor(
    code: string,
    message: string,
    options: {
      hint?: string;
      details?: Record<string, unknown>;
      next?: readonly NextStep[];
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AcorError';
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
    this.next = options.next;
  }
}
