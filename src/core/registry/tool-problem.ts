import type { Problem } from '../config/problem.ts';

/** A problem of a file or folder as a whole. */
export function problemOf(file: string, rule: string, message: string, fix: string): Problem {
  return { file, line: 0, column: 0, rule, message, fix };
}
