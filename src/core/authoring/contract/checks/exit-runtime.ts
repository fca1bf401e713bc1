import { isBlocked } from '../blocked.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

/** To find nothing is an answer of these. */
const SEARCHES =
  /^(?:search|find|grep|query|explain|help|which|log|logs|list|ls|diff|check|verify|validate)$/;

export const exitRuntime: Check = {
  rule: 'exit-runtime',
  judge(observed) {
    const calls = callsFor(observed, 'missing-object').filter(
      (call) => call.trouble === null && !isBlocked(call) && !searches(call.command?.words.at(-1) ?? ''),
    );
    if (calls.length === 0) return notJudged('no call with a missing object could be made');
    const wrong = calls.filter(({ rc }) => rc !== 1);
    return brokenBy([
      wrong.length === 0
        ? undefined
        : finding({
            rule: 'exit-runtime',
            severity: 'medium',
            message: `a call with an object that does not exist exits with ${[...new Set(wrong.map(({ rc, signal }) => signal ?? rc))].join(', ')}, not with 1`,
            commands: wrong.flatMap(({ command }) => (command === null ? [] : [command.words.join(' ')])),
            evidence: wrong.flatMap((call) => [
              evidenceOf(observed.program, call, 'exit'),
              evidenceOf(observed.program, call, call.stderr === '' ? 'stdout' : 'stderr'),
            ]),
            fix: 'Exit with 1 for a failure, and 2 only for a missing prerequisite.',
            surface: [
              {
                change: 'change',
                command: '(all commands)',
                what: 'exit with 1 for a failure',
                breaks: true,
              },
            ],
          }),
    ]);
  },
};

function searches(word: string): boolean {
  return word.split('-').some((part) => SEARCHES.test(part));
}
