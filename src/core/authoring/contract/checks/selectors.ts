import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { leaves, optionsOf } from '../surface.ts';

const LISTS = /^(?:list|ls|search|ps|images|history|events|query)$|^list-/;
const SELECTS =
  /^--?(?:fields?|filter|select|selector|limit|query|jq|columns?|max|max-count|max-results|offset|page|per-page|grep|pattern|name|type|state|tag|since|head|top|n|first|last|format|match|author|depth|long|status|category)$/;

const NARROWS = /\bonly\b|\bfilter|\blimit|\brestrict|\bmatch|\bselect|\bat most\b/i;

export const selectors: Check = {
  rule: 'selectors',
  judge({ surface }) {
    const lists = leaves(surface).filter(
      ({ words, summary, help }) =>
        help !== null && (LISTS.test(words.at(-1)!) || /^lists?\b/i.test(summary)),
    );
    if (lists.length === 0) return notJudged('no command lists anything');
    const without = lists.filter(
      (command) =>
        command.help!.positionals.length === 0 &&
        !optionsOf(surface, command).some(
          ({ spellings, text }) => spellings.some((each) => SELECTS.test(each)) || NARROWS.test(text),
        ),
    );
    const names = without.map(({ words }) => nameOf(words));
    return brokenBy([
      without.length === 0
        ? undefined
        : finding({
            rule: 'selectors',
            severity: 'medium',
            message: `lists cannot be narrowed: ${names.join(', ')}`,
            commands: names,
            evidence: without.map(({ words, text }) => helpEvidence(surface, words, text)),
            fix: 'Add --fields, --limit and --offset, and filters by name.',
            surface: names.map((command) => ({
              change: 'add' as const,
              command: `${command} --fields --limit --offset`,
              what: 'selects a part of the list',
              breaks: false,
            })),
          }),
    ]);
  },
};
