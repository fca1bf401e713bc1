import type { ValidateOptions } from './checker.ts';
import { CHECKERS } from './checkers/index.ts';
import { type Finding, inOrder } from './finding.ts';
import type { Subject } from './subject.ts';

/** Everything that is wrong with a project, or with a part of it, in the order of the places. With `strict`, warnings are errors. */
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
