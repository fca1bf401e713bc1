import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

const LEADS_ON =
  /--help|-h\b|\bhelp\b|usage|\btry\b|did you mean|similar|valid|possible|available|supported|expected|see ['`"]|hint/i;

export const errorHint: Check = {
  rule: 'error-hint',
  judge(observed) {
    const failed = callsFor(observed, 'unknown-option', 'unknown-command').filter(
      ({ rc }) => rc !== null && rc !== 0,
    );
    if (failed.length === 0) return notJudged('no usage error was seen');
    const mute = failed.filter(({ stdout, stderr }) => !LEADS_ON.test(`${stdout}\n${stderr}`));
    return brokenBy([
      mute.length === 0
        ? undefined
        : finding({
            rule: 'error-hint',
            severity: 'medium',
            message: 'a usage error does not say how to repair the call',
            evidence: mute.map((call) =>
              evidenceOf(observed.program, call, call.stderr === '' ? 'stdout' : 'stderr'),
            ),
            fix: 'Name the nearest valid word, or the command that lists the valid ones.',
          }),
    ]);
  },
};
