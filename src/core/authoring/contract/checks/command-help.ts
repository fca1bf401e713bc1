import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';

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
