/** The error that came first: `using` wraps it in a SuppressedError when a disposal fails after it. */
export function firstError(error: unknown): unknown {
  let first = error;
  while (first instanceof Error && first.name === 'SuppressedError')
    first = (first as SuppressedError).suppressed;
  return first;
}
