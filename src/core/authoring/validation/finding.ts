import { AcorError } from '../../../protocol/acor-error.ts';
import type { NextStep } from '../../../protocol/next-step.ts';
import type { Problem } from '../../config/problem.ts';
import { RULES, type Severity } from './rules.ts';

/** Something that is wrong with a file, or could be better. Lines and columns count from 1; 0 means the whole file. */
export interface Finding {
  file: string;
  line: number;
  col: number;
  severity: Severity;
  /** Stable; `docs/validate.md` lists them. */
  rule: string;
  message: string;
  /** What puts it right. */
  fix: string;
  /** The operations that do it, if any. */
  next?: readonly NextStep[];
}

/** A mistake that the readers of files tell of, with the severity of its rule. */
export function findingOf({ file, line, column, rule, message, fix, next }: Problem): Finding {
  const severity = RULES[rule]?.severity ?? 'error';
  return { file, line, col: column, severity, rule, message, fix, ...(next && { next }) };
}

/** In the order of their places, each once. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const byText = new Map(findings.map((each) => [JSON.stringify(each), each]));
  return [...byText.values()].sort(
    (a, b) =>
      compare(a.file, b.file) ||
      a.line - b.line ||
      a.col - b.col ||
      compare(a.rule, b.rule) ||
      compare(a.message, b.message),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What a reader of files refuses, as findings. Anything else that it throws is none of theirs. */
export async function problemsOf(read: () => Promise<unknown>): Promise<Finding[]> {
  try {
    await read();
    return [];
  } catch (error) {
    const problems = error instanceof AcorError ? error.details?.['problems'] : undefined;
    if (!Array.isArray(problems)) throw error;
    return (problems as Problem[]).map(findingOf);
  }
}
