import type { FoundOption } from '../../adopt/help-shape.ts';
import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { leaves, optionsOf } from '../surface.ts';

const SWITCHES = /^--?(?:csv|tsv|table|text|plain|yaml|xml|html|columns)$/;
const WITH_VALUE = /^--(?:format|output-format)$/;
/** The form of a document that is the product, or of a part of it. */
const ARTIFACT = /archive|date|time ?stamp|object|hash|image|video|audio|file format|input/i;
const PRINTS = /output|print|display|show|pretty|json|table|csv|template/i;

export const presentationFlags: Check = {
  rule: 'presentation-flags',
  judge({ surface }) {
    const readers = leaves(surface).filter(({ effect }) => effect === 'reads');
    const places = [
      { words: [] as readonly string[], options: surface.root?.help.options ?? [] },
      ...readers.map(({ words, help }) => ({ words, options: help?.options ?? [] })),
    ];
    const found = places.flatMap(({ words, options }) =>
      options
        .filter(isPresentation)
        .map(({ spellings, text }) => ({ words, flag: longest(spellings), text })),
    );
    const names = found.map(({ words, flag }) => nameOf([...words, flag]));
    return brokenBy([
      found.length === 0
        ? undefined
        : finding({
            rule: 'presentation-flags',
            severity: 'low',
            message: `flags choose a form for people: ${names.join(', ')}`,
            commands: names,
            evidence: found.map(({ words, flag, text }) => helpEvidence(surface, words, `${flag}  ${text}`)),
            fix: 'Print the envelope, and leave tables and CSV to the reader of it. Allow --toon as the one other form.',
            surface: names.map((command) => ({
              change: 'deprecate' as const,
              command,
              what: 'remove it after callers use the envelope',
              breaks: true,
            })),
          }),
    ]);
  },
};

function isPresentation({ spellings, value, text }: FoundOption): boolean {
  if (ARTIFACT.test(text)) return false;
  const [sentence = ''] = text.split(/[.;:]/, 1);
  const known = value === null ? SWITCHES : WITH_VALUE;
  return spellings.some((each) => known.test(each)) && PRINTS.test(sentence);
}

function longest(spellings: readonly string[]): string {
  return spellings.toSorted((a, b) => b.length - a.length)[0]!;
}

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
