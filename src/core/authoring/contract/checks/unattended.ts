import { brokenBy, type Check, evidenceOf, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import type { Call } from '../observe.ts';
import { leaves, optionsOf } from '../surface.ts';

const PROMPT = /(?:\[[yY]\/[nN]\]|\[[yY]es\/[nN]o\]|\(y\/n\)|password:|press (?:enter|any key)[^\n]*)\s*$/i;

export const nonInteractive: Check = {
  rule: 'non-interactive',
  judge({ program, calls }) {
    const waits = calls.filter(({ trouble }) => trouble?.includes('did not end') === true);
    const prompts = calls.filter(({ stdout, stderr }) => PROMPT.test(stdout) || PROMPT.test(stderr));
    const found = (severity: 'high' | 'medium', message: string, wrong: readonly Call[]) => {
      const commands = [...new Set(wrong.map(({ args }) => nameOf(args)))];
      if (wrong.length === 0) return undefined;
      return finding({
        rule: 'non-interactive',
        severity,
        message: `${message}: ${commands.join(', ')}`,
        commands,
        evidence: wrong.flatMap((call) => [
          evidenceOf(program, call, 'exit'),
          evidenceOf(program, call, call.stderr === '' ? 'stdout' : 'stderr'),
        ]),
        fix: 'Ask only when both stdin and stdout are terminals; otherwise fail at once, and name the flag or the prerequisite.',
      });
    };
    return brokenBy([
      found('high', 'a call without a terminal asks a question', prompts),
      found('medium', 'a call with an empty stdin and without a network does not end', waits),
    ]);
  },
};

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
