import { effectOfVerb, verbsOf } from '../effects.ts';
import { brokenBy, type Check, finding, helpEvidence, nameOf } from '../finding.ts';
import { type Command, leaves } from '../surface.ts';

const MANY_OPTIONS = 80;

export const granularity: Check = {
  rule: 'granularity',
  judge({ surface }) {
    const bundled = leaves(surface).filter(hasSeveralActions);
    const large = leaves(surface).filter(({ help }) => (help?.options.length ?? 0) > MANY_OPTIONS);
    const ofRoot = surface.commands.length === 0 ? (surface.root?.help.options.length ?? 0) : 0;
    return brokenBy([
      bundled.length === 0
        ? undefined
        : finding({
            rule: 'granularity',
            severity: 'medium',
            message: `one command reads and changes, as its flags say: ${bundled.map(({ words }) => nameOf(words)).join(', ')}`,
            commands: bundled.map(({ words }) => nameOf(words)),
            evidence: bundled.map(({ words, summary }) => helpEvidence(surface, words, summary)),
            fix: 'Make one command of each action, and keep the old one as a thin wrapper.',
            surface: bundled.map(({ words, summary }) => ({
              change: 'split' as const,
              command: nameOf(words),
              what: `into ${[...new Set(verbsOf(summary))].map((verb) => `'${nameOf(words)} ${verb}'`).join(', ')}`,
              breaks: false,
            })),
          }),
      large.length === 0 && ofRoot <= MANY_OPTIONS
        ? undefined
        : finding({
            rule: 'granularity',
            severity: 'low',
            message:
              ofRoot > MANY_OPTIONS
                ? `the program is one command with ${ofRoot} options`
                : `commands with more than ${MANY_OPTIONS} options: ${large.map(({ words, help }) => `${nameOf(words)} (${help!.options.length})`).join(', ')}`,
            commands: large.map(({ words }) => nameOf(words)),
            evidence:
              ofRoot > MANY_OPTIONS
                ? [helpEvidence(surface, [], surface.root!.text)]
                : large.map(({ words, text }) => helpEvidence(surface, words, text)),
            fix: 'Split it by what the options select, and let each command take only the options that concern it.',
          }),
    ]);
  },
};

/** Its summary names an action that reads beside one that changes something. */
function hasSeveralActions({ summary }: Command): boolean {
  const effects = new Set(verbsOf(summary).map(effectOfVerb));
  return effects.has('reads') && effects.size > 1;
}
