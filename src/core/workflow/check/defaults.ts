import type { Problem } from '../../config/problem.ts';
import { problemsOfDefaults } from '../../registry/check-defaults.ts';
import { inputSpecsOf } from '../model.ts';
import { type CheckedFile, problemAt } from './checked-file.ts';

/** Checks that the inputs of a workflow accept their defaults. */
export function checkDefaults(file: CheckedFile): Problem[] {
  return problemsOfDefaults(inputSpecsOf(file.workflow)).problems.map(({ input, message, fix }) =>
    problemAt(file, { path: ['inputs', input, 'default'] }, { rule: 'default-value', message, fix }),
  );
}
