import { type Check, evidenceOf, finding, HOLDS } from '../finding.ts';
import { callsFor } from '../observe.ts';

export const help: Check = {
  rule: 'help',
  judge(observed) {
    if (observed.surface.root !== null) return HOLDS;
    const calls = callsFor(observed, 'help');
    return {
      kind: 'broken',
      findings: [
        finding({
          rule: 'help',
          severity: 'critical',
          message: `the program prints no usable help: ${observed.surface.why}`,
          evidence: calls.flatMap((call) => [
            evidenceOf(observed.program, call, 'exit'),
            evidenceOf(observed.program, call, call.stdout === '' ? 'stderr' : 'stdout'),
          ]),
          fix: 'Print usage, commands and options for --help, and exit with 0.',
          surface: [{ change: 'add', command: '--help', what: 'usage, commands and options', breaks: false }],
        }),
      ],
    };
  },
};
