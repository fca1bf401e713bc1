import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { errorIn } from '../printed.ts';

export const errorEnvelope: Check = {
  rule: 'error-envelope',
  judge(observed) {
    const failed = callsFor(observed, 'unknown-option', 'unknown-command', 'missing-object').filter(
      ({ rc }) => rc !== 0,
    );
    const [first] = failed;
    if (first === undefined) return notJudged('no call failed');
    const evidence = failed.map((call) =>
      evidenceOf(observed.program, call, call.stdout.trim() === '' ? 'stderr' : 'stdout'),
    );
    const errors = failed.map(({ stdout }) => errorIn(stdout));
    const fix =
      'Answer a failure on stdout with {ok: false, error: {code, message, hint}, meta: {tool, elapsed}}.';
    if (errors.every((error) => error === undefined)) {
      const flagged = callsFor(observed, 'unknown-option-structured').find(
        ({ stdout }) => errorIn(stdout) !== undefined,
      );
      return brokenBy([
        finding({
          rule: 'error-envelope',
          severity: flagged === undefined ? 'high' : 'medium',
          message:
            flagged === undefined
              ? 'errors are text: they have no code that a program can read'
              : 'errors are text unless a flag asks for JSON',
          evidence:
            flagged === undefined
              ? evidence
              : [...evidence.slice(0, 2), evidenceOf(observed.program, flagged, 'stdout')],
          fix,
          surface: [
            {
              change: 'change',
              command: '(all commands)',
              what: 'print errors as an envelope',
              breaks: true,
            },
          ],
        }),
      ]);
    }
    return brokenBy(
      failed.map((call, at) => {
        const error = errors[at];
        const lacks = ['code', 'message', 'hint'].filter((key) => typeof error?.[key] !== 'string');
        if (lacks.length === 0) return undefined;
        return finding({
          rule: 'error-envelope',
          severity: 'medium',
          message:
            error === undefined
              ? `an error is text: ${call.args.join(' ')}`
              : `an error has no ${lacks.join(', ')}`,
          evidence: [evidence[at]!],
          fix,
        });
      }),
    );
  },
};
