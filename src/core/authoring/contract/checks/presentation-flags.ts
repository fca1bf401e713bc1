import type { FoundOption } from '../../adopt/help-shape.ts';
import { brokenBy, type Check, finding, helpEvidence, nameOf } from '../finding.ts';
import { leaves } from '../surface.ts';

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
