import { askForHelp, type HelpAnswer, type HelpPlace } from './ask-for-help.ts';
import type { ReadHelp } from './help-shape.ts';
import { readHelp } from './read-help.ts';

/** A help text, the commands that were run for it, and its content. */
export interface FoundHelp {
  help: ReadHelp;
  text: string;
  /** Every command that was run. The last one printed this help. */
  asked: string[][];
}

const NOTHING = 'it printed no usable help';

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
    if (found.help.options.length > 0 && !MANUAL.test(found.text)) return found;
    second = better(second, found);
  }
  return second ?? trouble;
}

function waysToAsk(subcommand: readonly string[]): string[][] {
  const ways = [
    [...subcommand, '--help'],
    [...subcommand, '-h'],
  ];
  return [...ways, ['help', ...subcommand]];
}

function readAnswer(
  { text, args }: HelpAnswer,
  words: readonly string[],
  asked: string[][],
): FoundHelp | null {
  const help = readHelp(text, words);
  if (!isHelp(help, text, args)) return null;
  return { help, text, asked: [...asked] };
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
  const weight = ({ help }: FoundHelp) => help.options.length + help.commands.length;
  return one === null || weight(other) > weight(one) ? other : one;
}
