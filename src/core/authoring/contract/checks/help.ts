import {
  brokenBy,
  type Check,
  evidenceOf,
  finding,
  HOLDS,
  helpEvidence,
  nameOf,
  notJudged,
} from '../finding.ts';
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

const FEW = 0.2;
/** It prints a script for a shell, whatever its arguments are. */
const PRINTS_SCRIPT = /^completions?$/;

export const commandHelp: Check = {
  rule: 'command-help',
  judge({ surface }) {
    if (surface.commands.length === 0) return notJudged('the program has no commands');
    const without = surface.commands.filter(
      ({ help, words }) => help === null && !PRINTS_SCRIPT.test(words.at(-1)!),
    );
    const names = without.map(({ words }) => nameOf(words));
    return brokenBy([
      without.length === 0
        ? undefined
        : finding({
            rule: 'command-help',
            severity: without.length < surface.commands.length * FEW ? 'low' : 'medium',
            message: `${without.length} of ${surface.commands.length} commands have no help of their own: ${names.join(', ')}`,
            commands: names,
            evidence: without.map(({ words, text }) => helpEvidence(surface, words, text)),
            fix: 'Print the arguments, flags and an example of each command for --help behind its name.',
            surface: names.map((command) => ({
              change: 'add' as const,
              command: `${command} --help`,
              what: 'its own help',
              breaks: false,
            })),
          }),
    ]);
  },
};
