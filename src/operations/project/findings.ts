import * as z from 'zod';
import type { Finding } from '../../core/authoring/validation/finding.ts';
import { withoutNext } from '../../core/config/problem.ts';
import { fixText } from '../fix-text.ts';

/** One problem of a file, as data shows it. */
export const findingShape = z.object({
  file: z.string(),
  line: z.int().describe('From 1; 0 is the whole file.'),
  col: z.int(),
  severity: z.enum(['error', 'warning']),
  rule: z.string(),
  message: z.string(),
  fix: z.string(),
});

export type FindingData = z.output<typeof findingShape>;

/** A finding as data shows it: its fix ends with the commands that do it. */
export function shownFinding(finding: Finding): FindingData {
  return { ...withoutNext(finding), fix: fixText(finding) };
}

/** Where a finding is. */
export function placed({ file, line, col }: Pick<Finding, 'file' | 'line' | 'col'>): string {
  return line > 0 ? `${file}:${line}:${col}` : file;
}
