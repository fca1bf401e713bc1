import type { Problem } from '../../config/problem.ts';
import { allSteps, type CheckedFile, problemAt } from './checked-file.ts';

/** Checks that step names are unique, and task names are unique within their step. */
export function checkNames(file: CheckedFile): Problem[] {
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
