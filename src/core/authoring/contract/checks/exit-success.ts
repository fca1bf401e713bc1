import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

export const exitSuccess: Check = {
  rule: 'exit-success',
  judge(observed) {
    const calls = callsFor(observed, 'help', 'version').filter(({ trouble }) => trouble === null);
    if (observed.surface.root === null || calls.length === 0) return notJudged('the program prints no help');
    const failed = calls.filter(({ rc, args }) => rc !== 0 && isAnswered(observed.surface.asked, args));
    return brokenBy([
      failed.length === 0
        ? undefined
        : finding({
            rule: 'exit-success',
            severity: 'medium',
            message: `a call that prints what it was asked for exits with another code than 0: ${failed.map(({ args }) => args.join(' ')).join(', ')}`,
            evidence: failed.map((call) => evidenceOf(observed.program, call, 'exit')),
            fix: 'Exit with 0 for --help and --version.',
          }),
    ]);
  },
};

/** `--version` is only called where the help has it, and `--help` may be unknown to a program that has `-h`. */
function isAnswered(asked: readonly string[][], args: readonly string[]): boolean {
  return args[0] === '--version' || asked.length > 0;
}
