import { isAbsolute, relative } from 'node:path';
import * as z from 'zod';
import type { PlannedFile } from '../../core/authoring/scaffold/planned-file.ts';
import type { Finding } from '../../core/authoring/validation/finding.ts';
import { withoutNext } from '../../core/config/problem.ts';
import { fixText, type WriteCommand } from '../command-forms.ts';

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
export function shownFinding(finding: Finding, commandOf: WriteCommand): FindingData {
  return { ...withoutNext(finding), fix: fixText(finding, commandOf) };
}

/** Where a finding is. */
export function placed({ file, line, col }: Pick<Finding, 'file' | 'line' | 'col'>): string {
  return line > 0 ? `${file}:${line}:${col}` : file;
}

/** One file in the answer of a command that writes files of a project. */
export const plannedFile = z.object({
  path: z.string().describe('Relative to the project’s folder; absolute when it is outside.'),
  action: z.enum([
    'create',
    'merge',
    'replace',
    'change',
    'move',
    'remove',
    'keep',
    'unchanged',
    'could_not',
  ]),
  why: z.string().optional(),
  by_hand: z.string().optional().describe('What a person must do by hand.'),
  lines: z.array(z.object({ line: z.int(), before: z.string(), after: z.string() })).optional(),
});

export type ShownFile = z.output<typeof plannedFile>;

/** A planned file as data shows it: without its content. */
export function shownFile(
  { path, action, why, by_hand, next, lines }: PlannedFile,
  root: string,
  commandOf: WriteCommand,
): ShownFile {
  const fromRoot = relative(root, path);
  return {
    path: fromRoot.startsWith('..') || isAbsolute(fromRoot) ? path : fromRoot || '.',
    action,
    ...(why !== undefined && { why }),
    ...(by_hand !== undefined && { by_hand: fixText({ fix: by_hand, ...(next && { next }) }, commandOf) }),
    ...(lines !== undefined && { lines }),
  };
}
