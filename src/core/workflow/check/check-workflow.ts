import { ERROR_CLASSES } from '../../../protocol/error-codes.ts';
import { LIST_ERROR_CODES } from '../../../protocol/next-steps.ts';
import type { Problem } from '../../config/problem.ts';
import { allSteps, type CheckedFile, nearestOf, problemAt, type Surroundings } from './checked-file.ts';
import { checkConditions } from './conditions.ts';
import { checkDecisions } from './decisions.ts';
import { checkDefaults } from './defaults.ts';
import { checkLiterals } from './literals.ts';
import { checkOrder } from './order.ts';
import { checkOwnFile } from './own-file.ts';
import { checkReferences } from './references.ts';
import { checkSubWorkflows } from './sub-workflows.ts';
import { checkToolCalls } from './tool-calls.ts';

/** Rules that only warn, because the author may intend what they report. */
export const WARNING_RULES: readonly string[] = [
  'maybe-skipped',
  'text-not-expression',
  'when-constant',
  'writes-workflow',
];

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
  const order = checkOrder(file);
  const references = checkReferences(file);
  return [
    ...names,
    ...order,
    // References are only checked when the order is valid.
    ...(order.length === 0 && names.length === 0
      ? [...references, ...checkConditions(file)]
      : references.filter(({ rule }) => rule !== 'not-before')),
    ...checkDefaults(file),
    ...checkLiterals(file),
    ...(await checkToolCalls(file, surroundings)),
    ...(await checkDecisions(file, surroundings)),
    ...checkRetries(file, surroundings),
    ...checkOwnFile(file, surroundings),
  ];
}

function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/** Checks that step names are unique, and task names are unique within their step. */
function checkNames(file: CheckedFile): Problem[] {
  const problems: Problem[] = [];
  const steps = allSteps(file.workflow);
  const first = new Map<string, number>();
  for (const { name, path, at } of steps) {
    const line = first.get(name);
    if (line === undefined) first.set(name, at.line);
    else problems.push(twice(file, [...path, 'name'], `step called '${name}'`, line));
  }
  for (const step of steps) {
    if (step.kind !== 'parallel') continue;
    const tasks = new Map<string, number>();
    for (const { name, path, at } of step.tasks) {
      const line = tasks.get(name);
      if (line === undefined) tasks.set(name, at.line);
      else problems.push(twice(file, [...path, 'name'], `task called '${name}'`, line));
    }
  }
  return problems;
}

function twice(file: CheckedFile, path: readonly (string | number)[], what: string, line: number): Problem {
  return problemAt(
    file,
    { path },
    {
      rule: 'duplicate-step',
      message: `line ${line} already defines ${what}`,
      fix: 'Rename one of the two.',
    },
  );
}

/** Checks that the error classes and codes in a step's retry rule exist. */
function checkRetries(file: CheckedFile, { codes }: Surroundings): Problem[] {
  const known = new Set<string>([...ERROR_CLASSES, ...codes]);
  const nearestTo = nearestOf(known);
  const all = allSteps(file.workflow).flatMap((step) =>
    step.kind === 'parallel' ? [step, ...step.tasks] : [step],
  );
  return all.flatMap(({ path, retry }) =>
    retry.on.flatMap((each, index) => {
      if (known.has(each)) return [];
      const nearest = nearestTo(each);
      return problemAt(
        file,
        { path: [...path, 'retry', 'on', index] },
        {
          rule: 'unknown-code',
          message: `'${each}' is neither a class of errors nor an error code`,
          fix: nearest === undefined ? 'Choose a class or a code from the list.' : `Write '${nearest}'.`,
          ...(nearest === undefined && { next: [LIST_ERROR_CODES] }),
        },
      );
    }),
  );
}
