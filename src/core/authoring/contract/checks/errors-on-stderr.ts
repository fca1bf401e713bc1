import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { errorIn, printed } from '../printed.ts';

export const errorsOnStderr: Check = {
  rule: 'errors-on-stderr',
  judge(observed) {
    const failed = callsFor(observed, 'unknown-option', 'unknown-command', 'missing-object').filter(
      ({ rc }) => rc !== 0,
    );
    if (failed.length === 0) return notJudged('no call failed');
    const wrong = failed.filter(
      ({ stdout, stderr }) =>
        stderr.trim() === '' &&
        ['text', 'mixed'].includes(printed(stdout).kind) &&
        errorIn(stdout) === undefined,
    );
    return brokenBy([
      wrong.length === 0
        ? undefined
        : finding({
            rule: 'errors-on-stderr',
            severity: 'medium',
            message: 'the text of an error is on stdout',
            evidence: wrong.map((call) => evidenceOf(observed.program, call, 'stdout')),
            fix: 'Write text about a failure to stderr. Only the envelope belongs on stdout.',
          }),
    ]);
  },
};
