import { isBlocked } from '../blocked.ts';
import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

export const exitBlocked: Check = {
  rule: 'exit-blocked',
  judge(observed) {
    const blocked = callsFor(observed, 'read', 'read-structured', 'given', 'missing-object').filter(
      isBlocked,
    );
    if (blocked.length === 0) return notJudged('no call was blocked in the sandbox');
    const wrong = blocked.filter(({ rc }) => rc !== 2);
    return brokenBy([
      wrong.length === 0
        ? undefined
        : finding({
            rule: 'exit-blocked',
            severity: 'medium',
            message: `a call that a missing prerequisite blocks exits with ${[...new Set(wrong.map(({ rc }) => rc))].join(', ')}, not with 2`,
            commands: [...new Set(wrong.map(({ command, args }) => nameOf(command?.words ?? args)))],
            evidence: wrong.flatMap((call) => [
              evidenceOf(observed.program, call, 'exit'),
              evidenceOf(observed.program, call, call.stderr === '' ? 'stdout' : 'stderr'),
            ]),
            fix: 'Exit with 2 when environment, configuration, credentials or a server are missing.',
            surface: [
              { change: 'change', command: '(all commands)', what: 'exit with 2 when blocked', breaks: true },
            ],
          }),
    ]);
  },
};
