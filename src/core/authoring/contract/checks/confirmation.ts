import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { leaves, optionsOf } from '../surface.ts';

const ASKS =
  /\b(?:prompts? (?:for|before|you|the user)|asks? (?:for confirmation|before|you to confirm)|are you sure|requires? confirmation|will be prompted)/i;
const ANSWERS =
  /^-(?:y|f|q)$|^--(?:yes|force|assume-yes|no-input|non-interactive|noninteractive|confirm|batch|no-prompt|no-confirm|quiet|auto-approve|interactive|token|password|with-token|password-stdin)$/;

export const confirmation: Check = {
  rule: 'confirmation',
  judge({ surface }) {
    const changing = leaves(surface).filter(({ effect }) => effect === 'writes' || effect === 'destroys');
    if (changing.length === 0) return notJudged('no command changes anything');
    const asking = changing.filter(
      (command) =>
        ASKS.test(command.text) &&
        !optionsOf(surface, command).some(({ spellings }) => spellings.some((each) => ANSWERS.test(each))),
    );
    const names = asking.map(({ words }) => nameOf(words));
    return brokenBy([
      asking.length === 0
        ? undefined
        : finding({
            rule: 'confirmation',
            severity: 'medium',
            message: `commands ask for a confirmation, and no flag gives it: ${names.join(', ')}`,
            commands: names,
            evidence: asking.map(({ words, text }) => helpEvidence(surface, words, lineWith(text, ASKS))),
            fix: 'Add --yes, and fail without it when stdin is no terminal.',
            surface: names.map((command) => ({
              change: 'add' as const,
              command: `${command} --yes`,
              what: 'confirms beforehand',
              breaks: false,
            })),
          }),
    ]);
  },
};

function lineWith(text: string, pattern: RegExp): string {
  return (
    text
      .split('\n')
      .find((line) => pattern.test(line))
      ?.trim() ?? text
  );
}
