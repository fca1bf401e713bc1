import { effectOfVerb } from '../effects.ts';
import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { leaves } from '../surface.ts';

const isVerb = (word: string) => effectOfVerb(word) !== 'unknown';

export const grammar: Check = {
  rule: 'grammar',
  judge({ surface }) {
    const pairs = leaves(surface).filter(({ words }) => words.length === 2);
    const verbFirst = pairs.filter(({ words: [first, second] }) => isVerb(first!) && !isVerb(second!));
    const nounFirst = pairs.filter(({ words: [first, second] }) => !isVerb(first!) && isVerb(second!));
    if (pairs.length === 0) return notJudged('no command has two words');
    const [one] = verbFirst;
    const [other] = nounFirst;
    if (one === undefined || other === undefined) return brokenBy([]);
    return brokenBy([
      finding({
        rule: 'grammar',
        severity: 'low',
        message: `some commands are verb and noun (${nameOf(one.words)}), others noun and verb (${nameOf(other.words)})`,
        commands: (verbFirst.length < nounFirst.length ? verbFirst : nounFirst).map(({ words }) =>
          nameOf(words),
        ),
        evidence: [one, other].map(({ words, text }) => helpEvidence(surface, words, text)),
        fix: 'Name every command by group and action, and keep the other form as an alias.',
      }),
    ]);
  },
};
