import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { leaves } from '../surface.ts';

const MAX_SHOWN = 5;

/** A letter, and how one command uses it. */
interface Use {
  words: readonly string[];
  /** Its long spelling there. */
  meaning: string;
  line: string;
}

export const flagConsistency: Check = {
  rule: 'flag-consistency',
  judge({ surface }) {
    const commands = leaves(surface).filter(({ help }) => help !== null);
    if (commands.length < 2) return notJudged('there are not two commands with flags');
    const uses = new Map<string, Use[]>();
    for (const { words, help } of commands) {
      for (const { spellings, text } of help!.options) {
        const long = spellings.filter((each) => each.startsWith('--'));
        const line = `${spellings.join(', ')}  ${text}`;
        const [letter] = spellings.filter((each) => /^-[A-Za-z]$/.test(each));
        if (letter !== undefined && long.length === 1)
          noteUse(uses, letter, { words, meaning: long[0]!, line });
      }
    }
    const conflicts = [...uses].filter(([, list]) => new Set(list.map(({ meaning }) => meaning)).size > 1);
    const shown = conflicts.slice(0, MAX_SHOWN);
    return brokenBy([
      conflicts.length === 0
        ? undefined
        : finding({
            rule: 'flag-consistency',
            severity: 'low',
            message: `${conflicts.length} letters mean different things in different commands: ${shown.map(([flag, list]) => wordsOf(flag, list)).join('; ')}`,
            commands: conflicts.map(([flag]) => flag),
            evidence: shown.flatMap(([, list]) =>
              twoOf(list).map(({ words, line }) => helpEvidence(surface, words, line)),
            ),
            fix: 'Give a flag one meaning in all commands, and another name to the other meaning.',
          }),
    ]);
  },
};

function noteUse(uses: Map<string, Use[]>, flag: string, use: Use): void {
  uses.set(flag, [...(uses.get(flag) ?? []), use]);
}

/** The first use, and the first that differs from it. */
function twoOf(list: readonly Use[]): Use[] {
  const [first] = list;
  return [first!, list.find(({ meaning }) => meaning !== first!.meaning)!];
}

function wordsOf(flag: string, list: readonly Use[]): string {
  return `${flag} (${twoOf(list)
    .map(({ words, meaning }) => `${meaning} in ${nameOf(words)}`)
    .join(', ')})`;
}
