import { AppError } from '../app-error.ts';

/** What the built-in commands are: none of them changes anything. */
export const READS = { effect: 'reads', idempotent: true, rateLimit: null } as const;

/** The error for a name that a list does not have. */
export function noSuch(what: string, wanted: string, known: readonly string[]): AppError {
  return new AppError('E_USAGE', `there is no ${what} '${wanted}'`, { hint: `Known: ${known.join(', ')}` });
}
