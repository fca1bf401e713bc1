import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { leaves, optionsOf } from '../surface.ts';

const PREVIEW = /^--(?:dry-?run|simulate|just-print|what-?if|plan|preview|noop|no-act|check-only|diff)$/;
/** Commands that store what was typed, or open a session: there is nothing to preview. */
const TRIVIAL =
  /^(?:login|logout|set|unset|help|exec|attach|browse|edit|open|proxy|debug|shell|ssh|connect)$/;

export const dryRun: Check = {
  rule: 'dry-run',
  judge({ surface }) {
    const changing = leaves(surface).filter(
      ({ effect, help, words }) =>
        (effect === 'writes' || effect === 'destroys') && help !== null && !TRIVIAL.test(words.at(-1)!),
    );
    if (changing.length === 0) return notJudged('no command changes anything');
    const without = changing.filter(
      (command) =>
        !/dry.?run/i.test(command.text) &&
        !optionsOf(surface, command).some(({ spellings }) => spellings.some((each) => PREVIEW.test(each))),
    );
    const names = without.map(({ words }) => nameOf(words));
    return brokenBy([
      without.length === 0
        ? undefined
        : finding({
            rule: 'dry-run',
            severity: without.some(({ effect }) => effect === 'destroys') ? 'medium' : 'low',
            message: `${without.length} of ${changing.length} changing commands have no --dry-run: ${names.join(', ')}`,
            commands: names,
            evidence: without.map(({ words, text }) => helpEvidence(surface, words, text)),
            fix: 'Add --dry-run, or state in the help why the command has no dry run.',
            surface: names.map((command) => ({
              change: 'add' as const,
              command: `${command} --dry-run`,
              what: 'shows what would change',
              breaks: false,
            })),
          }),
    ]);
  },
};
