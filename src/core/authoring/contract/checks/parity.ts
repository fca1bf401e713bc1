import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { leaves } from '../surface.ts';

const FOR_PEOPLE =
  /\b(?:opens? (?:up )?(?:an?|the|your|in (?:an?|the|your)) (?:default |preferred |text |web )*(?:editor|browser)|(?:in|using|with) (?:an?|the|your) (?:default |preferred |text |web )*(?:editor|browser)|launch(?:es)? (?:an?|the|your) (?:default )?(?:editor|browser)|text editor)\b/i;
const BESIDE =
  /^-(?:m|F|f)$|^--(?:message|file|filename|from-file|stdin|token|with-token|content|data|set|no-edit|no-browser|password-stdin|url|json|patch|editor|full)$/;

export const parity: Check = {
  rule: 'parity',
  judge({ surface }) {
    const commands = leaves(surface).filter(({ help }) => help !== null);
    if (commands.length === 0) return notJudged('the program has no commands');
    const manual = commands.filter(
      ({ summary, text, help }) =>
        (FOR_PEOPLE.test(summary) || FOR_PEOPLE.test(text)) &&
        !help!.options.some(({ spellings }) => spellings.some((each) => BESIDE.test(each))),
    );
    const names = manual.map(({ words }) => nameOf(words));
    return brokenBy([
      manual.length === 0
        ? undefined
        : finding({
            rule: 'parity',
            severity: 'medium',
            message: `only a person with an editor or a browser can use: ${names.join(', ')}`,
            commands: names,
            evidence: manual.map(({ words, text, summary }) =>
              helpEvidence(surface, words, lineWith(text) ?? summary),
            ),
            fix: 'Take the content from a flag, a file or stdin as well, or print the URL instead of opening it.',
            surface: names.map((command) => ({
              change: 'add' as const,
              command: `${command} --file`,
              what: 'takes what a person would type',
              breaks: false,
            })),
          }),
    ]);
  },
};

function lineWith(text: string): string | undefined {
  return text
    .split('\n')
    .find((line) => FOR_PEOPLE.test(line))
    ?.trim();
}
