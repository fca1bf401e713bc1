/** The system's code of an error (`ENOENT`, `EAGAIN` …), or undefined. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** The message of any thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The first error: `using` wraps it in a SuppressedError when a disposal fails after it. */
export function firstError(error: unknown): unknown {
  let first = error;
  while (first instanceof Error && first.name === 'SuppressedError')
    first = (first as SuppressedError).suppressed;
  return first;
}
