import type { Problem } from '../../config/problem.ts';
import type { CheckedFile, Surroundings } from './checked-file.ts';
import { checkConditions } from './conditions.ts';
import { checkDecisions } from './decisions.ts';
import { checkNames } from './names.ts';
import { checkOrder } from './order.ts';
import { checkOwnFile } from './own-file.ts';
import { checkReferences } from './references.ts';
import { checkRetries } from './retries.ts';
import { checkSubWorkflows } from './sub-workflows.ts';
import { checkToolCalls } from './tool-calls.ts';

/** Rules that only warn, because the author may intend what they report. */
export const WARNING_RULES: readonly string[] = ['when-constant', 'writes-workflow'];

/** Stop after this many problems in one file: more do not help the author. */
const MOST_PROBLEMS = 200;

/** Finds every problem of a workflow, and of the workflows that it contains, before any of it starts. */
export async function checkWorkflow(
  file: CheckedFile,
  surroundings: Surroundings,
): Promise<{ errors: Problem[]; warnings: Problem[] }> {
  const checkOne = async (one: CheckedFile) =>
    (await checkFileAlone(one, surroundings)).slice(0, MOST_PROBLEMS);
  const problems = [
    ...(await checkOne(file)),
    ...(await checkSubWorkflows(file, surroundings, checkOne)),
  ].sort((a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column);
  const isWarning = ({ rule }: Problem) => WARNING_RULES.includes(rule);
  return {
    errors: problems.filter((each) => !isWarning(each)),
    warnings: problems.filter(isWarning),
  };
}

async function checkFileAlone(file: CheckedFile, surroundings: Surroundings): Promise<Problem[]> {
  const names = checkNames(file);
  // With two steps of one name, a cycle through that name is ambiguous.
  const order = checkOrder(file).filter(({ rule }) => rule !== 'cycle' || names.length === 0);
  const references = checkReferences(file);
  return [
    ...names,
    ...order,
    // References are only checked when the order is valid.
    ...(order.length === 0 && names.length === 0
      ? [...references, ...checkConditions(file)]
      : references.filter(({ rule }) => rule !== 'not-before')),
    ...(await checkToolCalls(file, surroundings)),
    ...(await checkDecisions(file, surroundings)),
    ...checkRetries(file, surroundings),
    ...checkOwnFile(file, surroundings),
  ];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
