import { escapePattern } from '../../../util/escape-pattern.ts';
import { readArgparseCommands, readCommands } from './commands.ts';
import type { FoundOption, FoundPositional, ReadHelp } from './help-shape.ts';
import { isTitle, readOptionLines } from './option-lines.ts';
import { indentOf, plainLines } from './plain-lines.ts';
import { readUsage, usageLines } from './usage.ts';

const MOST = 0.8;
/** A program with more has a help text that was made to hold up its reader. */
const MAX_OPTIONS = 5000;

/** Parses a help text of any common style. `words` are the program and its subcommand. */
export function readHelp(text: string, words: readonly string[]): ReadHelp {
  const lines = plainLines(text);
  const calls = usageLines(lines);
  const listed = readOptionLines(lines);
  const usage = readUsage(calls, words);
  const commands =
    usage.takesCommand || usage.positionals.length === 0 || hasCommandList(lines)
      ? readCommands(lines, words[0])
      : [];
  if (commands.length === 0) commands.push(...readArgparseCommands(lines));
  return {
    description: descriptionOf(lines),
    options: mergedOptions(
      withSigns(listed.options, text).slice(0, MAX_OPTIONS),
      usage.options.slice(0, MAX_OPTIONS),
    ),
    positionals: usage.positionals.map((each) => ({ ...each, text: positionalText(lines, each) })),
    commands,
    unread: [...listed.unread, ...usage.unread],
  };
}

function hasCommandList(lines: readonly string[]): boolean {
  return lines.some((line) => isTitle(line) && /\bcommands?\b/i.test(line));
}

/** When a sign of a number means more than or less than, the value is not a plain number. */
function withSigns(options: readonly FoundOption[], text: string): readonly FoundOption[] {
  if (!text.includes('+N or -N')) return options;
  return options.map((option) =>
    option.value?.name === 'N' ? { ...option, value: { ...option.value, name: '[+-]N' } } : option,
  );
}

/** One option for each spelling: the list's information, completed from the usage lines. */
function mergedOptions(listed: readonly FoundOption[], called: readonly FoundOption[]): FoundOption[] {
  const merged: FoundOption[] = [];
  for (let option of listed) {
    option = { ...option, spellings: [...new Set(option.spellings)] };
    const fresh = option.spellings.filter((each) => !merged.some((other) => other.spellings.includes(each)));
    const known = merged.find((other) => option.spellings.some((each) => other.spellings.includes(each)));
    // A list may name one option twice: in short form and in full.
    if (known !== undefined) {
      if (known.text === '') known.text = option.text;
      known.value ??= option.value;
      if (fresh.length === 0) continue;
    }
    // `-C, --check=quiet` is -C, and `quiet` is one of the values of --check.
    const isOneValue = option.value?.isJoined === true && /^[a-z]+(?:-[a-z]+)*$/.test(option.value.name);
    if (known === undefined) merged.push({ ...option });
    else if (isOneValue && fresh.every((each) => /^-[^-]$/.test(each)))
      merged.push({ ...option, spellings: fresh, value: null });
    else known.spellings.push(...fresh);
  }
  for (const option of called.flatMap((each) => lettersOf(each, merged))) {
    const known = merged.find(({ spellings }) => option.spellings.some((each) => spellings.includes(each)));
    if (known === undefined) {
      merged.push({ ...option });
      continue;
    }
    // Outside of brackets, the word after an option could also be an operand.
    if (option.value?.isGuess !== true) known.value ??= option.value;
    known.isRequired ||= option.isRequired && known.value !== null;
    known.repeats ||= option.repeats;
  }
  return merged;
}

/** `-nrug` in a usage line is -n, -r, -u and -g when the list has these four. */
function lettersOf(option: FoundOption, known: readonly FoundOption[]): FoundOption[] {
  const letters = /^-([A-Za-z0-9]{3,})$/.exec(option.spellings[0]!)?.[1];
  if (letters === undefined || option.value !== null) return [option];
  const isKnown = (letter: string) => known.some(({ spellings }) => spellings.includes(`-${letter}`));
  const count = [...letters].filter(isKnown).length;
  if (count < letters.length * MOST) return [option];
  return [...letters]
    .filter((each) => !isKnown(each))
    .map((each) => ({ ...option, spellings: [`-${each}`] }));
}

/** The first paragraph that is neither a usage line nor a list. */
function descriptionOf(lines: readonly string[]): string {
  const paragraphs: string[][] = [[]];
  const firstList = lines.findIndex((line) => /^\s*-/.test(line) || /^\S.*\bcommands?\b.*:$/i.test(line));
  for (const line of firstList < 0 ? lines : lines.slice(0, firstList)) {
    if (line === '') paragraphs.push([]);
    else paragraphs.at(-1)!.push(line);
  }
  if (firstList >= 0 && paragraphs.at(-1)!.length > 0) paragraphs.pop();
  const prose = paragraphs.map((paragraph) => proseOf(paragraph)).find(hasTwoWords);
  return prose ?? '';
}

function hasTwoWords(text: string): boolean {
  return text.split(' ').filter((word) => /[a-z]{2}/i.test(word)).length > 1;
}

function proseOf(paragraph: readonly string[]): string {
  const usage = paragraph.findIndex((line) => /^\s*\*?usage\b/i.test(line));
  const isProse = (line: string) =>
    !/^\s*(?:\*?usage\b|or: |-)/i.test(line) &&
    !isTitle(line) &&
    !/\S {3,}\S/.test(line.trim()) &&
    !/\[.*\]/.test(line);
  const rest = usage < 0 ? paragraph : paragraph.slice(usage + 1).filter((line) => indentOf(line) === 0);
  const end = rest.findIndex((line) => !isProse(line));
  return (end < 0 ? rest : rest.slice(0, end)).map((line) => line.trim()).join(' ');
}

/** The description of an operand in the list of arguments. */
function positionalText(lines: readonly string[], { name }: FoundPositional): string {
  const escaped = escapePattern(name);
  const row = new RegExp(`^\\s+[<[]*${escaped}[>\\]]*(?:\\.\\.\\.)?(?:\\s{2,}(\\S.*))?$`, 'i');
  for (const [index, line] of lines.entries()) {
    const found = row.exec(line);
    if (found === null) continue;
    const parts = [found[1] ?? ''];
    for (const next of lines.slice(index + 1)) {
      if (next === '' || indentOf(next) <= indentOf(line)) break;
      parts.push(next.trim());
    }
    return parts.filter((part) => part !== '').join(' ');
  }
  return '';
}
