import { AcorError } from '../../protocol/acor-error.ts';
import { describeTool } from '../../protocol/next-steps.ts';

/** A problem with one argument: its error code, the rule, and the fix. */
export interface ArgumentProblem {
  code: 'E_USAGE' | 'E_INPUT_NOT_FOUND' | 'E_PERMISSION';
  input: string;
  rule: string;
  message: string;
  fix: string;
}

/** A problem in the syntax of the arguments. */
export function usageProblem(input: string, rule: string, message: string, fix: string): ArgumentProblem {
  return { code: 'E_USAGE', input, rule, message, fix };
}

/** Throws all problems as one error, with the code of the first. Does nothing when there are none. */
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
