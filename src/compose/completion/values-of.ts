import type { Operation } from '../operation.ts';
import type { Candidate } from './candidates.ts';

/**
 * Completions that only the application knows: values of a parameter, given the words before it. Undefined: no values
 * are known.
 */
export type ValuesOf<C> = (
  wanted: { op: Operation<C>; key: string; given: ReadonlyMap<string, string> },
  context: C,
) => Promise<readonly Candidate[] | undefined>;
