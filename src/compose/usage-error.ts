import { AppError, EXIT } from './app-error.ts';

/** One problem of a command line. */
export interface UsageProblem {
  /** `--limit`, `<tool>`, `--input-json`. */
  parameter: string;
  /** A sentence that is complete without context. */
  message: string;
  fix?: string;
}

/**
 * One E_USAGE with every problem. `invocation` is the program and its command, whose help the hint names; a surface
 * without command lines passes none. `example` is shown when no problem has a fix.
 */
export function usageError(
  problems: readonly UsageProblem[],
  invocation?: string,
  example?: string,
): AppError {
  const messages = problems.map((problem) => problem.message);
  const message =
    messages.length === 1 ? messages[0]! : `${messages.length} problems: ${messages.join('; ')}`;
  const fixes = [...new Set(problems.flatMap((problem) => problem.fix ?? []))];
  if (fixes.length === 0 && example !== undefined) fixes.push(`For example: ${example}`);
  const help = invocation === undefined ? [] : [`${invocation} --help`];
  return new AppError('E_USAGE', message, {
    hint: [...fixes, ...help.map((command) => `See: ${command}`)].join(' '),
    exit: EXIT.failed,
    details: { problems },
    next: help.map((command) => ({ command, why: 'Show how the command is called.' })),
  });
}

/** The text of a suggestion, or an empty one. */
export function didYouMean(name: string | undefined): { fix?: string } {
  return name === undefined ? {} : { fix: `Did you mean ${name}?` };
}
