import type { NextStep } from './next-step.ts';

/** What an AppError carries beside its code and message. */
export interface AppErrorOptions {
  /** The exact fix; without it the hint of the code's row is shown. */
  hint?: string | undefined;
  /** 1 failed, 2 something must be provided first; without it the exit of the code's row. */
  exit?: 1 | 2 | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
  /** What puts it right or leads on; without it, and without a hint, that of the code's row. */
  next?: readonly NextStep[] | undefined;
  cause?: unknown;
}

/** An operation that cannot go on: a stable code, what happened and where, and the exact fix. */
export class AppError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly exit: 1 | 2 | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly next: readonly NextStep[] | undefined;

  constructor(code: string, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.hint = options.hint;
    this.exit = options.exit;
    this.details = options.details;
    this.next = options.next;
  }
}
