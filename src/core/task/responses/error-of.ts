import { ToolError } from '../../../tool/index.ts';

/** Maps an error of the service, its client or this program to the error of the run. */
export function errorOf(error: unknown): { code: string; message: string; hint: string; retryable: boolean } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ToolError)
    return { code: error.code, message, hint: error.hint ?? '', retryable: false };
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 429) return { code: 'E_RATE_LIMIT', message, hint: '', retryable: true };
  if (status === 401 || status === 403) {
    return {
      code: 'E_PERMISSION',
      message,
      hint: 'Store a valid key of the service as the secret OPENAI_API_KEY.',
      retryable: false,
    };
  }
  const isOfNetwork = /^(APIConnection|APIConnectionTimeout)Error$/.test(error?.constructor.name ?? '');
  if (isOfNetwork || (typeof status === 'number' && status >= 500))
    return { code: 'E_TRANSIENT_NET', message, hint: '', retryable: true };
  return { code: 'E_TOOL_FAILED', message, hint: '', retryable: false };
}
