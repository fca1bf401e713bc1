import type { FoundOption } from '../../adopt/help-shape.ts';
import { effectOfVerb, verbsOf } from '../effects.ts';
import { brokenBy, type Check, finding, helpEvidence, nameOf } from '../finding.ts';
import { type Command, leaves } from '../surface.ts';

const MANY_OPTIONS = 80;
/** Switches for one action more are its variants. */
const SEVERAL = 3;
const ABOUT_ITSELF = new Set(['help', 'version']);

export const granularity: Check = {
  rule: 'granularity',
  judge({ surface }) {
    const bundled = leaves(surface).filter(hasSeveralActions);
    const large = leaves(surface).filter(({ help }) => (help?.options.length ?? 0) > MANY_OPTIONS);
    const actions = surface.commands.length === 0 ? actionsOf(surface.root?.help.options ?? []) : [];
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
      actions.length < SEVERAL
        ? undefined
        : finding({
            rule: 'granularity',
            severity: 'low',
            message: `the program is one command for ${actions.length} actions, which its options choose: ${actions.join(', ')}`,
            evidence: [helpEvidence(surface, [], surface.root!.text)],
            fix: 'Make one command of each action, and keep the options as they are for the callers of today.',
          }),
      large.length === 0
        ? undefined
        : finding({
            rule: 'granularity',
            severity: 'low',
            message: `commands with more than ${MANY_OPTIONS} options: ${large.map(({ words, help }) => `${nameOf(words)} (${help!.options.length})`).join(', ')}`,
            commands: large.map(({ words }) => nameOf(words)),
            evidence: large.map(({ words, text }) => helpEvidence(surface, words, text)),
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

/** Switches that are the name of an action, as their description says: `--extract` "extract files from an archive". */
function actionsOf(options: readonly FoundOption[]): string[] {
  return options.flatMap(({ spellings, value, text }) => {
    const name = value === null ? spellings.find((each) => /^--[a-z]+$/.test(each)) : undefined;
    const verb = name?.slice(2);
    return verb !== undefined && verbsOf(text)[0] === verb && !ABOUT_ITSELF.has(verb) ? [name!] : [];
  });
}
