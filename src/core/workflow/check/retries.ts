import { ERROR_CLASSES } from '../../../protocol/error-codes.ts';
import { LIST_ERROR_CODES } from '../../../protocol/next-steps.ts';
import type { Problem } from '../../config/problem.ts';
import { allSteps, type CheckedFile, problemAt, type Surroundings } from './checked-file.ts';
import { nearestOf } from './nearest-of.ts';

/** Checks that the error classes and codes in a step's retry rule exist. */
export function checkRetries(file: CheckedFile, { codes }: Surroundings): Problem[] {
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
