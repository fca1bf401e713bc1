import * as z from 'zod';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import type { Finding } from '../../core/authoring/validation/finding.ts';
import { withoutNext } from '../../core/config/problem.ts';
import { fixText } from '../fix-text.ts';

/** What is wrong with a file, as operations tell it. */
export const findingShape = z.object({
  file: z.string(),
  line: z.int().describe('From 1; 0 is the whole file.'),
  col: z.int(),
  severity: z.enum(['error', 'warning']),
  rule: z.string(),
  message: z.string(),
  fix: z.string(),
});

/** A finding as data shows it: its fix ends with the commands that do it. */
export function shownFinding(finding: Finding): z.output<typeof findingShape> {
  return { ...withoutNext(finding), fix: fixText(finding) };
}

/** Findings for a person, each with its place and its fix. */
export function findingLines(findings: readonly Finding[], screen: Screen): string[] {
  return findings.flatMap((finding) => [
    `${placed(finding)}: ${styled(finding.severity, finding.severity === 'error' ? 'red' : 'yellow', screen)}: ${finding.message} [${finding.rule}]`,
    `  ${finding.fix}`,
  ]);
}

export function placed({ file, line, col }: Finding): string {
  return line > 0 ? `${file}:${line}:${col}` : file;
}
