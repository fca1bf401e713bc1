import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';

const DEPRECATED = /\bdeprecated\b/i;
const REPLACED = /\buse\b|\binstead\b|\breplaced\b|\bsee\b|\bin favou?r of\b|\balias (?:of|for)\b/i;

export const deprecation: Check = {
  rule: 'deprecation',
  judge({ surface }) {
    const old = surface.commands
      .map((command) => ({ command, line: lineOf(command.summary, command.text) }))
      .filter(({ line }) => line !== undefined);
    if (old.length === 0) return notJudged('no command is deprecated');
    const mute = old.filter(({ line }) => !REPLACED.test(line!));
    return brokenBy([
      mute.length === 0
        ? undefined
        : finding({
            rule: 'deprecation',
            severity: 'low',
            message: `deprecated commands name no replacement: ${mute.map(({ command }) => nameOf(command.words)).join(', ')}`,
            commands: mute.map(({ command }) => nameOf(command.words)),
            evidence: mute.map(({ command, line }) => helpEvidence(surface, command.words, line!)),
            fix: 'Name the replacement in the help and in a warning of each call.',
          }),
    ]);
  },
};

/** The line that says that the command itself is deprecated: its summary, or one of the first lines of its help. */
function lineOf(summary: string, text: string): string | undefined {
  if (DEPRECATED.test(summary)) return summary;
  const start = text.split('\n').slice(0, 3);
  const at = start.findIndex((line) => DEPRECATED.test(line) && !/^\s*-/.test(line));
  return at < 0
    ? undefined
    : text
        .split('\n')
        .slice(at, at + 2)
        .join(' ');
}
