import { cutText, cutTexts } from '../util/cut-text.ts';
import { AppError, EXIT } from './app-error.ts';
import type { CliApp } from './cli-app.ts';
import type { EnvelopeError } from './envelope.ts';
import type { NextStep } from './next-step.ts';

/** A failure before it is rendered: the error of its envelope, its exit code and its next steps. */
export interface Failure {
  error: EnvelopeError;
  exit: number;
  next: readonly NextStep[] | undefined;
}

/** What an application knows of its codes. */
export type ErrorTable = Pick<CliApp<never>, 'name' | 'errorInfo'>;

/** Converts any thrown value to a failure. An error without a code of the application's table is a crash. */
export function toFailure(
  thrown: unknown,
  app: ErrorTable,
  circumstances: { signal: AbortSignal; showsStack: boolean },
): Failure {
  if (isCoded(thrown, app)) return coded(thrown, app);
  if (isInterruption(thrown, circumstances.signal)) {
    return coded(new AppError('E_CANCELLED', 'The call was cancelled before its end.'), app);
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  const crash = new AppError('E_UNKNOWN', `${app.name} failed unexpectedly: ${message}`, {
    hint: `This is a defect of ${app.name}: report it, with the command line and what DEBUG=1 adds to details.`,
    details: circumstances.showsStack && stack !== undefined ? { stack } : undefined,
  });
  return coded(crash, app);
}

/** Adds an operation's data to the details of its failure, without what the error and its next steps say already. */
export function withData(failure: Failure, data: unknown): Failure {
  if (data === undefined) return failure;
  const isRecord = typeof data === 'object' && data !== null && !Array.isArray(data);
  const more = isRecord
    ? Object.entries(data).filter((entry) => !isRepeated(entry, failure.error))
    : [['data', data]];
  const details = { ...failure.error.details, ...Object.fromEntries(more) };
  return { ...failure, error: { ...failure.error, details } };
}

function isRepeated([key, value]: [string, unknown], error: EnvelopeError): boolean {
  if (key === 'next') return true;
  const isOfError = key === 'code' || key === 'message' || key === 'hint' || key === 'retryable';
  return isOfError && (value === null || value === error[key]);
}

function isInterruption(thrown: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError');
}

type Coded = Error & Partial<AppError> & { code: string };

// The layers below have an error class of their own with the same fields. A system error's `code` is in no table.
function isCoded(thrown: unknown, app: ErrorTable): thrown is Coded {
  if (thrown instanceof AppError) return true;
  if (!(thrown instanceof Error)) return false;
  const code = (thrown as { code?: unknown }).code;
  return typeof code === 'string' && app.errorInfo(code) !== undefined;
}

/** What the table says of a code. A failure may be retryable where its row is not, and the other way round: then the advice of the row does not hold. */
export function rowOf(
  info: ReturnType<ErrorTable['errorInfo']>,
  retryable: boolean | undefined,
): Pick<EnvelopeError, 'class' | 'retryable' | 'action'> {
  const is = retryable ?? info?.retryable ?? false;
  if (info?.class === 'retryable' && !is)
    return { class: 'unknown', retryable: false, action: 'Find out what it did before you repeat it.' };
  if (info?.class === 'user_error' && is && !info.retryable)
    return { class: 'retryable', retryable: true, action: 'Do what the hint says, then repeat the call.' };
  return { class: info?.class ?? 'unknown', retryable: is, action: info?.action ?? '' };
}

function coded(error: Coded, app: ErrorTable): Failure {
  const info = app.errorInfo(error.code);
  return {
    error: {
      code: error.code,
      message: cutText(error.message),
      hint: cutText(error.hint ?? info?.hint ?? ''),
      ...rowOf(info, error.retryable),
      details: cutTexts(error.details) as EnvelopeError['details'],
    },
    exit: error.exit ?? (info?.exit === EXIT.blocked ? EXIT.blocked : EXIT.failed),
    next: error.next ?? info?.next,
  };
}
