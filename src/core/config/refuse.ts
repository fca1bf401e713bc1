import { AcorError } from '../../protocol/acor-error.ts';
import { type Problem, problemText, withoutNext } from './problem.ts';

/** Throws E_CONFIG_INVALID with every mistake at once; does nothing where there is none. */
export function refuse(problems: readonly Problem[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  throw new AcorError('E_CONFIG_INVALID', `${problemText(first)}${more}`, {
    hint: first.fix,
    ...(first.next !== undefined && { next: first.next }),
    details: { problems: problems.map(withoutNext) },
  });
}
