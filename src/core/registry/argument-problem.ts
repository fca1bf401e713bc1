import { AcorError } from '../../protocol/acor-error.ts';
import { describeTool } from '../../protocol/next-steps.ts';

/** Something wrong with one argument: the code that it alone would end with, the rule, and the fix. */
export interface ArgumentProblem {
  code: 'E_USAGE' | 'E_INPUT_NOT_FOUND' | 'E_PERMISSION';
  input: string;
  rule: string;
  message: string;
  fix: string;
}

/** A mistake in how the arguments are written. */
export function usageProblem(input: string, rule: string, message: string, fix: string): ArgumentProblem {
  return { code: 'E_USAGE', input, rule, message, fix };
}

/** Throws when there are problems: all at once, with the first one's code. */
export function refuseArguments(tool: string, problems: readonly ArgumentProblem[], usage: string): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  const hint = first.code === 'E_USAGE' ? `${first.fix} Usage: ${usage}` : first.fix;
  throw new AcorError(first.code, `${tool}: ${first.message}${more}`, {
    hint,
    details: {
      problems: problems.map(({ code, ...rest }) => (code === first.code ? rest : { code, ...rest })),
      usage,
    },
    next: [describeTool(tool)],
  });
}
