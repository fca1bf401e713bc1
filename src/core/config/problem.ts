import { AcorError } from '../../protocol/acor-error.ts';
import type { NextStep } from '../../protocol/next-steps.ts';

/**
 * A problem in a file that a person wrote: its place, its rule and its fix. Lines and columns count from 1; 0 means the
 * whole file.
 */
export interface Problem {
  file: string;
  line: number;
  column: number;
  rule: string;
  message: string;
  fix: string;
  /** The operations that fix it. They are not part of the shown problem. */
  next?: readonly NextStep[];
}

/** The shown part of a problem. */
export function withoutNext<T extends { next?: unknown }>({ next: _, ...shown }: T): Omit<T, 'next'> {
  return shown;
}

/** `file:line:column: message`, as compilers write it. */
export function problemText(problem: Problem): string {
  return `${placeText(problem)}: ${problem.message}`;
}

/** `file:line:column`, or the file alone for a problem of the whole file. */
export function placeText({ file, line, column }: Pick<Problem, 'file' | 'line' | 'column'>): string {
  return line > 0 ? `${file}:${line}:${column}` : file;
}

/** Throws E_CONFIG_INVALID with every problem; does nothing without problems. */
export function refuse(problems: readonly Problem[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  throw new AcorError('E_CONFIG_INVALID', `${problemText(first)}${more}`, {
    hint: first.fix,
    ...(first.next !== undefined && { next: first.next }),
    details: { problems: problems.map(withoutNext) },
  });
}

/** A problem of a whole file or folder. */
export function problemOf(file: string, rule: string, message: string, fix: string): Problem {
  return { file, line: 0, column: 0, rule, message, fix };
}
