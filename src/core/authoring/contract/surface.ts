import { askForHelp } from '../adopt/ask-for-help.ts';
import { type FoundHelp, findHelp } from '../adopt/find-help.ts';
import type { HelpPlace } from '../adopt/help-place.ts';
import type { FoundOption, ReadHelp } from '../adopt/help-shape.ts';
import { completed } from '../adopt/merge-sources.ts';
import { readHelp } from '../adopt/read-help.ts';
import { type CommandEffect, effectOf } from './effects.ts';
import { inTurn } from './in-turn.ts';

/** A command of a program, as its help describes it. */
export interface Command {
  /** The words after the program's name. */
  words: readonly string[];
  summary: string;
  effect: CommandEffect;
  /** Its own help; null when it has none, or prints that of another command. */
  help: ReadHelp | null;
  text: string;
  /** The call, or the text on the machine, that has it. */
  shownBy: string;
  /** It only dispatches to the commands below it. */
  isGroup: boolean;
}

/** The command line of a program, as far as it describes itself. */
export interface Surface {
  /** Null when the program prints no help. */
  root: { help: ReadHelp; text: string; shownBy: string } | null;
  why: string;
  commands: Command[];
  /** How many commands were not read, because there are too many. */
  unread: number;
  asked: string[][];
}

/** Limits of the reading. */
export interface SurfaceLimits {
  depth: number;
  commands: number;
}

/** The call for the flags that every command takes, as a help text of cobra programs names it. */
const FURTHER_FLAGS = /\bhelp flags\b/;

/** Reads the help of a program and of its commands, level by level. */
export async function readSurface(
  place: HelpPlace,
  program: string,
  limits: SurfaceLimits,
  signal: AbortSignal,
): Promise<Surface> {
  const root = await findHelp(place, [program]);
  if (typeof root === 'string')
    return { root: null, why: root, commands: [], unread: 0, asked: [[program, '--help']] };
  const globals = FURTHER_FLAGS.test(root.text) ? await findFlags(place, program) : undefined;
  const surface: Surface = {
    root: {
      help: globals === undefined ? root.help : completed(root.help, 'help flags', globals.help),
      text: root.text,
      shownBy: shownBy(root),
    },
    why: '',
    commands: [],
    unread: 0,
    asked: [...root.asked],
  };
  const rootText = root.text.trim();
  const seen = new Set<string>();
  let level: { words: readonly string[]; summary: string }[] = below([], root.help);
  for (let depth = 0; depth < limits.depth && level.length > 0; depth++) {
    const room = Math.max(0, limits.commands - surface.commands.length);
    surface.unread += Math.max(0, level.length - room);
    const read = await inTurn(level.slice(0, room), async ({ words }) => {
      signal.throwIfAborted();
      return findHelp(place, [program, ...words]);
    });
    const next: typeof level = [];
    for (const [at, found] of read.entries()) {
      const { words, summary } = level[at]!;
      const text = typeof found === 'string' ? undefined : found.text.trim();
      if (typeof found !== 'string') surface.asked.push(...found.asked);
      // The help of another command: this word is an alias of it.
      if (text !== undefined && text !== rootText && seen.has(text)) continue;
      const own = typeof found === 'string' || text === rootText ? null : found;
      if (text !== undefined) seen.add(text);
      const children = own === null ? [] : below(words, own.help);
      surface.commands.push(
        commandOf(
          [program, ...words],
          summary,
          own,
          children.length > 0,
          effectOf({ name: words.at(-1)!, text: summary }),
        ),
      );
      next.push(...children);
    }
    level = next;
  }
  return surface;
}

async function findFlags(place: HelpPlace, program: string): Promise<{ help: ReadHelp }> {
  const { text } = await askForHelp(place, ['help', 'flags']);
  return { help: readHelp(text, [program]) };
}

function below(words: readonly string[], help: ReadHelp) {
  return help.commands
    .filter(({ name }) => name !== 'help')
    .map(({ name, text }) => ({ words: wordsOf(words, name), summary: text }));
}

/** The words of a command in the help of its group, which may have those of the group before it. */
function wordsOf(group: readonly string[], name: string): string[] {
  const own = name.split(' ');
  const isWhole =
    own.length > group.length && group.length > 0 && group.every((word, at) => own[at] === word);
  return isWhole ? own : [...group, ...own];
}

function commandOf(
  [program, ...words]: readonly string[],
  summary: string,
  found: FoundHelp | null,
  isGroup: boolean,
  effect: CommandEffect,
): Command {
  return {
    words,
    summary: summary || (found?.help.description ?? ''),
    effect,
    help: found?.help ?? null,
    text: found?.text ?? '',
    shownBy: found === null ? [program, ...words, '--help'].join(' ') : shownBy(found),
    isGroup,
  };
}

/** `the help of 'git log -h'` without the words around it. */
function shownBy({ source }: FoundHelp): string {
  return /^the help of '(.*)'$/.exec(source)?.[1] ?? source;
}

/** The options of a command, and those of the program. */
export function optionsOf({ root }: Surface, command?: Command): readonly FoundOption[] {
  return [...(command?.help?.options ?? []), ...(root?.help.options ?? [])];
}

/** The commands that do something themselves. */
export function leaves({ commands }: Surface): Command[] {
  return commands.filter(({ isGroup }) => !isGroup);
}
