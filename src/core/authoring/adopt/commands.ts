import type { FoundCommand } from './help-shape.ts';
import { indentOf } from './plain-lines.ts';

const NAME = '[a-z0-9](?:[a-z0-9:_.-]*[a-z0-9_.-])?';
const WITH_TEXT = new RegExp(
  `^\\s+(?:(${NAME}) )?(${NAME}):?(?:(?:, ?|\\|)${NAME})*(?: [<[].*?)?(?: {2,}|\\s+- )(\\S.*)$`,
);
const NAME_ALONE = new RegExp(`^${NAME}$`);
/** oclif lists its groups of commands as TOPICS; elsewhere topics are texts to read. */
const BEGINS = /\b(?:[sS]ub)?(?:[cC]ommands?|COMMANDS?)\b|^TOPICS$/;
const ENDS =
  /\b(?:options?|flags|arguments|usage|examples?|environment|concepts?|topics?|aliases|learn more|configs?)\b/i;
const PROSE_WORDS = 12;

/**
 * The subcommands that a help text lists under a heading about commands. A list of several levels names a command by
 * two words, such as `config set`.
 */
export function readCommands(lines: readonly string[], program = ''): FoundCommand[] {
  const found = new Map<string, FoundCommand>();
  let isInside = false;
  let column = Number.POSITIVE_INFINITY;
  let isListOpen = false;
  for (const line of lines) {
    if (line === '') continue;
    if (indentOf(line) <= 1 && !isNames(line, isInside)) {
      // Inside the list, a heading about commands starts a group; any other heading ends the list.
      const isHeading = line.split(' ').length <= PROSE_WORDS && !line.startsWith('-');
      if (isHeading && BEGINS.test(line) && !/^usage\b/i.test(line) && !/\[options?\]/i.test(line)) {
        isInside = true;
        column = Number.POSITIVE_INFINITY;
      } else if (/^\s*-/.test(line) || ENDS.test(line) || !isHeading) isInside = false;
      continue;
    }
    if (!isInside) continue;
    const [, group, action, text] = WITH_TEXT.exec(line) ?? [];
    const name = group !== undefined && group !== program ? `${group} ${action}` : action;
    if (name !== undefined && indentOf(line) <= column) {
      column = Math.min(column, indentOf(line) + 2);
      if (!found.has(name)) found.set(name, { name, text: text ?? '' });
    } else if (isNames(line, isInside) || (isListOpen && NAME_ALONE.test(line.trim()))) {
      isListOpen = line.endsWith(',');
      for (const each of line.split(/[,\s]+/)) if (each !== '') found.set(each, { name: each, text: '' });
    }
  }
  return [...found.values()];
}

/** The subcommands of a Python program on argparse: `{add,rm} ...` in its usage, and a row for each that has a help. */
export function readArgparseCommands(lines: readonly string[]): FoundCommand[] {
  const [, names] = /\{([^{}\s]+)\} \.\.\./.exec(lines.map((line) => line.trim()).join(' ')) ?? [];
  return (names?.split(',') ?? []).map((name) => {
    const row = lines.find((line) => line.trimStart().startsWith(`${name}  `));
    return { name, text: row?.trimStart().slice(name.length).trim() ?? '' };
  });
}

/** Only names, separated by commas or in columns. */
function isNames(line: string, isInside: boolean): boolean {
  if (!isInside) return false;
  const names = line
    .trim()
    .replace(/,$/, '')
    .split(/ *, *| {2,}/);
  return (names.length > 1 || line.trim().endsWith(',')) && names.every((name) => NAME_ALONE.test(name));
}
