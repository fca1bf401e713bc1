/** An error that a tool should report: a code of the error table, what happened, and the fix. */
export class ToolError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint = '', cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ToolError';
    this.code = code;
    this.hint = hint;
  }
}
