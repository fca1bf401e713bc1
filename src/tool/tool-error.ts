/**
 * An error that a tool should report: a code of the error table, what happened, and the fix. One that the tool does not catch becomes the
 * error of the run. Without `retryable` the exit code and the table decide.
 */
export class ToolError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly retryable: boolean | undefined;

  constructor(
    code: string,
    message: string,
    hint = '',
    { retryable, cause }: { retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ToolError';
    this.code = code;
    this.hint = hint;
    this.retryable = retryable;
  }
}

const SAFE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/** Rejects a name that could lead out of the folder it is used in. */
export function assertFileName(what: string, name: string): void {
  if (SAFE_NAME.test(name) && name.length <= 128) return;
  throw new ToolError(
    'E_USAGE',
    `not a ${what}: ${JSON.stringify(name)}`,
    'Use letters, digits, "_", "-" and ".", at most 128, not beginning with a dot.',
  );
}
