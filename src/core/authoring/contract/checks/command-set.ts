import type { FoundOption } from '../../adopt/help-shape.ts';
import { effectOfVerb, verbsOf } from '../effects.ts';
import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { type Command, leaves } from '../surface.ts';

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

const CREATES = /^(?:add|create|new|insert|register|import|put|set)$/;
const READS =
  /^(?:list|ls|get|show|view|inspect|info|describe|status|find|search|read|check|verify|tree|history)$/;
const DELETES =
  /^(?:delete|remove|rm|rmi|drop|destroy|prune|purge|unset|unregister|uninstall|clear|reset|disable)$/;

export const crudMatrix: Check = {
  rule: 'crud-matrix',
  judge({ program, surface }) {
    const nouns = Map.groupBy(
      leaves(surface).filter(({ words }) => words.length > 1 && effectOfVerb(words.at(-2)!) === 'unknown'),
      ({ words }) => nameOf(words.slice(0, -1)),
    );
    const entities = [...nouns].filter(([, commands]) => has(commands, CREATES) || has(commands, DELETES));
    if (entities.length === 0) return notJudged('no group of commands creates or deletes anything');
    const isList = (noun: string) =>
      surface.commands.some(({ words, effect }) => nameOf(words) === noun && effect === 'reads');
    return brokenBy(
      entities.map(([noun, commands]) => {
        const holes = [
          ...(has(commands, READS) || isList(noun) ? [] : ['list']),
          ...(has(commands, CREATES) && !has(commands, DELETES) ? ['delete'] : []),
        ];
        if (holes.length === 0) return undefined;
        return finding({
          rule: 'crud-matrix',
          severity: 'medium',
          message: `'${noun}' has ${commands.map(({ words }) => words.at(-1)).join(', ')}, and no ${holes.join(', nor ')}`,
          commands: [noun],
          evidence: commands.map(({ words, summary }) => helpEvidence(surface, words, summary)),
          fix: `Add ${holes.map((verb) => `'${program} ${noun} ${verb}'`).join(' and ')}, or say in the help where it is done.`,
          surface: holes.map((verb) => ({
            change: 'add' as const,
            command: `${noun} ${verb}`,
            what: `completes '${noun}'`,
            breaks: false,
          })),
        });
      }),
    );
  },
};

function has(commands: readonly Command[], verbs: RegExp): boolean {
  return commands.some(({ words }) => verbs.test(words.at(-1)!));
}

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

const DEPRECATED = /\bdeprecated\b/i;
const REPLACED = /\buse\b|\binstead\b|\breplaced\b|\bsee\b|\bin favou?r of\b|\balias (?:of|for)\b/i;

export const deprecation: Check = {
  rule: 'deprecation',
  judge({ surface }) {
    const old = surface.commands
      .map((command) => ({ command, line: lineOf(command.summary, command.text) }))
      .filter(({ line }) => line !== undefined);
    if (old.length === 0) return notJudged('no command is deprecated');
    const mute = old.filter(({ line }) => !REPLACED.test(line!));
    return brokenBy([
      mute.length === 0
        ? undefined
        : finding({
            rule: 'deprecation',
            severity: 'low',
            message: `deprecated commands name no replacement: ${mute.map(({ command }) => nameOf(command.words)).join(', ')}`,
            commands: mute.map(({ command }) => nameOf(command.words)),
            evidence: mute.map(({ command, line }) => helpEvidence(surface, command.words, line!)),
            fix: 'Name the replacement in the help and in a warning of each call.',
          }),
    ]);
  },
};

/** The line that says that the command itself is deprecated: its summary, or one of the first lines of its help. */
function lineOf(summary: string, text: string): string | undefined {
  if (DEPRECATED.test(summary)) return summary;
  const start = text.split('\n').slice(0, 3);
  const at = start.findIndex((line) => DEPRECATED.test(line) && !/^\s*-/.test(line));
  return at < 0
    ? undefined
    : text
        .split('\n')
        .slice(at, at + 2)
        .join(' ');
}
