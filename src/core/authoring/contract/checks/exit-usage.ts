import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

export const exitUsage: Check = {
  rule: 'exit-usage',
  judge(observed) {
    const calls = callsFor(observed, 'unknown-option', 'unknown-command').filter(
      ({ trouble }) => trouble === null,
    );
    if (calls.length === 0) return notJudged('no wrong call ended');
    const ignored = calls.filter(({ rc }) => rc === 0);
    const other = calls.filter(({ rc }) => rc !== 0 && rc !== 1);
    const evidence = (list: typeof calls) => list.map((call) => evidenceOf(observed.program, call, 'exit'));
    return brokenBy([
      ignored.length === 0
        ? undefined
        : finding({
            rule: 'exit-usage',
            severity: 'high',
            message: `a wrong call exits with 0: ${ignored.map(({ args }) => args.join(' ')).join(', ')}`,
            evidence: evidence(ignored),
            fix: 'Refuse options and commands that do not exist, with exit code 1.',
          }),
      other.length === 0
        ? undefined
        : finding({
            rule: 'exit-usage',
            severity: 'medium',
            message: `a wrong call exits with ${[...new Set(other.map(({ rc, signal }) => signal ?? rc))].join(', ')}, not with 1`,
            evidence: evidence(other),
            fix: 'Exit with 1 for a usage error; 2 means that something must be provided first.',
            surface: [
              {
                change: 'change',
                command: '(all commands)',
                what: 'exit with 1 for a usage error',
                breaks: true,
              },
            ],
          }),
    ]);
  },
};
