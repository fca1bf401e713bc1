import { askForHelp, type HelpAnswer } from './ask-for-help.ts';
import { completionOf } from './completions.ts';
import type { HelpPlace } from './help-place.ts';
import type { ReadHelp } from './help-shape.ts';
import { manualPage, sharedFolders } from './manual-page.ts';
import { completed } from './merge-sources.ts';
import { readHelp } from './read-help.ts';

/** A help text, the commands that were run for it, and its content. */
export interface FoundHelp {
  help: ReadHelp;
  text: string;
  /** The command that printed this help, or the text on the machine that has it. */
  source: string;
  /** Every command that was run. */
  asked: string[][];
  /** The arguments that printed it with exit code 0. */
  works?: readonly string[];
}

const NOTHING = 'it printed no usable help';

/** The call for the help of every option or command, as a shorter help names it. */
const FULL_HELP = /--help[ =-]all\b|\bhelp all\b/;

/** A manual page. Its content is valid, but the program's short help is easier to parse. */
const MANUAL = /^\s*[A-Z][A-Z0-9_.-]+\([0-9a-z]+\)\s/;

/**
 * Asks a program, or one of its subcommands, for help in the usual ways, until an output lists options, operands or
 * subcommands. The program only gets arguments that ask for help. Returns the reason as text when it finds no help.
 */
export async function findHelp(place: HelpPlace, words: readonly string[]): Promise<FoundHelp | string> {
  const [, ...subcommand] = words;
  const asked: string[][] = [];
  let second: FoundHelp | null = null;
  let trouble = NOTHING;
  for (const args of waysToAsk(subcommand)) {
    asked.push([words[0]!, ...args]);
    const answer = await askForHelp(place, args);
    trouble = answer.trouble ?? trouble;
    const found = readAnswer(answer, words, asked);
    if (found === null) continue;
    if (found.help.options.length > 0 && !MANUAL.test(found.text)) return fullHelp(place, words, found);
    second = better(second, found);
  }
  if (second !== null && !MANUAL.test(second.text)) return fullHelp(place, words, second);
  return second ?? helpOfPage(place, words, asked) ?? trouble;
}

/** The help of every option, when this help names the call for it. */
async function fullHelp(place: HelpPlace, words: readonly string[], short: FoundHelp): Promise<FoundHelp> {
  const [said] = FULL_HELP.exec(short.text) ?? [];
  if (said === undefined) return short;
  const args = [...words.slice(1), ...said.split(' ')];
  const asked = [...short.asked, [words[0]!, ...args]];
  const full = readAnswer(await askForHelp(place, args), words, asked);
  if (full === null || weightOf(full) < weightOf(short)) return { ...short, asked };
  return full;
}

function waysToAsk(subcommand: readonly string[]): string[][] {
  const ways = [
    [...subcommand, '--help'],
    [...subcommand, '-h'],
  ];
  return [...ways, ['help', ...subcommand]];
}

function readAnswer(
  { text, args, succeeded }: HelpAnswer,
  words: readonly string[],
  asked: string[][],
): FoundHelp | null {
  const help = readHelp(text, words);
  if (!isHelp(help, text, args)) return null;
  const source = `the help of '${asked.at(-1)!.join(' ')}'`;
  return { help, text, source, asked: [...asked], ...(succeeded && { works: args }) };
}

/** A complaint about the help argument itself is short and names the argument. */
function isHelp(
  { options, positionals, commands }: ReadHelp,
  text: string,
  args: readonly string[],
): boolean {
  const isComplaint =
    /(?:unknown|invalid|illegal|unrecognized|unexpected|no such|cannot|not found)/i.test(
      text.slice(0, 200),
    ) && text.slice(0, 200).includes(args.at(-1)!.replace(/^-+/, ''));
  if (isComplaint && options.length < 2) return false;
  return options.length > 0 || commands.length > 0 || (positionals.length > 0 && /usage/i.test(text));
}

function better(one: FoundHelp | null, other: FoundHelp): FoundHelp {
  return one === null || weightOf(other) > weightOf(one) ? other : one;
}

function weightOf({ help }: FoundHelp): number {
  return help.options.length + help.commands.length;
}

/** The help of a program, completed from the texts about it on the machine. */
export function withFurtherTexts(
  place: Pick<HelpPlace, 'program'>,
  words: readonly string[],
  found: FoundHelp,
): FoundHelp {
  const folders = sharedFolders(place.program);
  // Others write completions, so they are often of another version than the program.
  const further = manualPage(folders, words) ?? completionOf(folders, words);
  if (further === undefined || further.source === found.source) return found;
  return {
    ...found,
    help: completed(found.help, further.source, further.help),
    text: `${found.text}\n${further.text}`,
  };
}

/** The help in the manual page of a program that prints none. */
function helpOfPage(place: HelpPlace, words: readonly string[], asked: string[][]): FoundHelp | undefined {
  const page = manualPage(sharedFolders(place.program), words);
  return page === undefined || page.help.options.length === 0 ? undefined : { ...page, asked };
}
