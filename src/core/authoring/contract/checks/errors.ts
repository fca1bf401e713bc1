import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { errorIn, printed } from '../printed.ts';

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
