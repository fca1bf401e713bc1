import { AppError, type AppErrorOptions } from '../compose/app-error.ts';
import type { EnvelopeError } from '../compose/envelope.ts';
import type { BuiltinErrorCode } from '../protocol/error-codes.ts';

/** A request that is refused before an operation gets it, with its status. */
export class HttpError extends AppError {
  readonly status: number;

  constructor(status: number, code: BuiltinErrorCode, message: string, options: AppErrorOptions = {}) {
    super(code, message, options);
    this.status = status;
  }
}

/** Codes that mean more to HTTP than their class. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  E_CONFLICT: 409,
  E_INPUT_NOT_FOUND: 404,
  E_RATE_LIMIT: 429,
  E_RUN_NOT_FOUND: 404,
  E_TOOL_NOT_FOUND: 404,
  // A defect of ACOR.
  E_UNKNOWN: 500,
} satisfies Partial<Record<BuiltinErrorCode, number>>;

/** The status of the class of an error. A project may add classes to the table. */
const STATUS_OF_CLASS: Readonly<Record<string, number>> = {
  user_error: 400,
  policy_error: 403,
  retryable: 503,
  // What stands behind the server has failed: a tool, the sandbox, the store.
  infra_error: 502,
  unknown: 502,
};

/** The status for the error of an envelope. */
export function statusOf({ code, class: errorClass }: Pick<EnvelopeError, 'code' | 'class'>): number {
  return STATUS_OF_CODE[code] ?? STATUS_OF_CLASS[errorClass] ?? 502;
}
