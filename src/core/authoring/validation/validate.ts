import type { Checker, ValidateOptions } from './checker.ts';
import { advice } from './checkers/advice.ts';
import { defaults } from './checkers/defaults.ts';
import { examples } from './checkers/examples.ts';
import { config, errorCodes, manifests, policies } from './checkers/project-files.ts';
import { published } from './checkers/published.ts';
import { recordedRuns } from './checkers/recorded-runs.ts';
import { selftests } from './checkers/selftests.ts';
import { versions } from './checkers/versions.ts';
import { workflows } from './checkers/workflows.ts';
import { type Finding, inOrder } from './finding.ts';
import type { Subject } from './subject.ts';

/** Finds all problems of a project, or of a part of it, sorted by place. With `strict`, warnings are errors. */
export async function validate(
  subject: Subject,
  options: ValidateOptions & { strict: boolean },
): Promise<Finding[]> {
  const asked = CHECKERS.filter(({ isAsked }) => isAsked?.(options) ?? true);
  const findings: Finding[] = [];
  for (const checker of asked) findings.push(...(await checker.check(subject, options)));
  const ordered = inOrder(findings);
  return options.strict ? ordered.map((each) => ({ ...each, severity: 'error' })) : ordered;
}

/** All checks of `acor validate`. A new kind of file needs a checker here and a list in `subject.ts`. */
const CHECKERS: readonly Checker[] = [
  config,
  manifests,
  defaults,
  examples,
  advice,
  errorCodes,
  policies,
  published,
  recordedRuns,
  workflows,
  versions,
  selftests,
];
