import * as z from 'zod';
import type { Finding } from '../../core/authoring/validation/finding.ts';

/** What is wrong with a file. */
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

/** Where a finding is. */
export function placed({ file, line, col }: Finding): string {
  return line > 0 ? `${file}:${line}:${col}` : file;
}
