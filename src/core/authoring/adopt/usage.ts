import { escapePattern } from '../../../util/escape-pattern.ts';
import type { FoundOption, FoundPositional } from './help-shape.ts';
import { balanced, readHead } from './option-head.ts';
import { indentOf } from './plain-lines.ts';

/** Placeholders for options that are listed elsewhere. They are not operands. */
const PLACEHOLDERS =
  /^(?:(?:global|gnu|main|general)[ _-])?(?:long |short )?(?:options?|opts?|flags?|switch(?:es)?|arguments)[ .]*$/i;
/** The name of an operand. `+FORMAT` is one with a literal sign. */
const OPERAND = /^\+?[A-Za-z][\w./:@#=-]*(?: [\w./:-]+){0,2}$/;
/** Of the lines of a call, which are joined. The longest of the known ones has half of it. */
const MAX_CALL_CHARS = 20_000;
const SUBCOMMANDS = /^(?:sub)?-?_?(?:commands?|cmd)$/i;

/** The usage lines of a help text, each on one line and without the word `usage`. */
export function usageLines(lines: readonly string[]): string[] {
  const found: string[] = [];
  const start = lines.findIndex((line) => /^\s*\*?usage\b/i.test(line));
  if (start < 0) return found;
  const first = lines[start]!.replace(/^\s*\*?usage(?: of [^ ]+)? *:?\s*/i, '');
  let program = '';
  const takeLine = (text: string) => {
    const call = text
      .replace(/^or:? +/i, '')
      .replace(/ {2,}.*| #.*/, '')
      .trim();
    const name = call.split(' ', 1)[0]!;
    if (program === '') program = name;
    const isNew = name === program || /^or:? /i.test(text) || found.length === 0;
    if (isNew) found.push(call);
    else found[found.length - 1] += ` ${call}`;
  };
  if (first !== '') takeLine(first);
  for (const line of lines.slice(start + 1)) {
    if (line === '') {
      if (found.length > 0) break;
      continue;
    }
    if (first !== '' && indentOf(line) === 0) break;
    if (/^-/.test(line.trim()) && found.length > 0) break;
    takeLine(line.trim());
  }
  const apart = lines.filter((line) => /^\s*\[--?[A-Za-z]/.test(line)).join(' ');
  // Some programs put the options of the usage line below it, in brackets of their own.
  if (found.length > 0 && apart !== '' && !found.some((call) => call.includes('[-'))) found[0] += ` ${apart}`;
  return found;
}

/** A part of a usage line: an option with its value, or an operand. */
interface Part {
  text: string;
  /** The words after an option in its bracket. */
  value?: string;
  isRequired: boolean;
  repeats: boolean;
  /** It is in a bracket with options, so it is not an operand. */
  isValueOnly?: boolean;
}

/** The options and operands of the usage lines, and the operands that could not be parsed (`unread`). */
interface Usage {
  options: FoundOption[];
  positionals: FoundPositional[];
  takesCommand: boolean;
  unread: string[];
}

/** Reads usage lines. Each starts with `words`, the program and its subcommand. */
export function readUsage(calls: readonly string[], words: readonly string[]): Usage {
  const options: FoundOption[] = [];
  const unread = new Set<string>();
  const forms: FoundPositional[][] = [];
  let takesCommand = false;
  for (const call of calls) {
    const positionals: FoundPositional[] = [];
    const parts = [...partsOf(withoutProgram(call, words).slice(0, MAX_CALL_CHARS), true)];
    for (const [index, part] of parts.entries()) {
      const { text } = part;
      if (text.startsWith('-') && text.length > 1) {
        if (text === '--') continue;
        const found = optionsOf(part, parts[index + 1]);
        options.push(
          ...found.map((each) => ({ ...each, isRequired: each.isRequired && calls.length === 1 })),
        );
        continue;
      }
      if (part.isValueOnly && text !== '--') continue;
      const name = nameOf(text);
      const isList = /^\{.*,.*\}$/.test(text);
      takesCommand ||= isList || SUBCOMMANDS.test(name);
      if (isList || PLACEHOLDERS.test(name)) continue;
      if (!OPERAND.test(name)) {
        // A single bar or dash is no operand, and a bracket without its partner is noise.
        if (/^(?!\[-).*[A-Za-z]/.test(text)) unread.add(text);
        continue;
      }
      const seen = positionals.find((each) => each.name === name);
      if (seen !== undefined) seen.repeats = true;
      else positionals.push({ name, repeats: part.repeats, isRequired: part.isRequired, text: '' });
    }
    forms.push(positionals);
  }
  const positionals = joinedForms(forms);
  for (const [index, form] of forms.entries())
    if (form.length > positionals.length && positionals.at(-1)?.repeats !== true) unread.add(calls[index]!);
  return { options, positionals, takesCommand, unread: [...unread] };
}

/** The name in `<name>...`, `[NAME]` or `{name}`. */
function nameOf(text: string): string {
  return text
    .replace(/ ?\.\.\.$/, '')
    .replace(/^[<{[(]+|[>}\])]+$/g, '')
    .replace(/[<>]/g, '')
    .trim();
}

/** The operands of the first usage line that has any. One is required when every usage line has one at its place. */
function joinedForms(forms: readonly FoundPositional[][]): FoundPositional[] {
  const first = forms.find(({ length }) => length > 0) ?? [];
  return first.map((each, index) => ({
    ...each,
    isRequired: forms.every((form) => form[index]?.isRequired === true),
    repeats: each.repeats || (index === first.length - 1 && forms.some((form) => form[index]?.repeats)),
  }));
}

function withoutProgram(call: string, words: readonly string[]): string {
  // The name of a script may contain spaces, and so may the path before it.
  const named = new RegExp(`^(?:[^[<]*/)?${escapePattern(words[0]!)}(?= |$)`).exec(call)?.[0];
  const rest = call
    .slice((named ?? call.split(' ', 1)[0]!).length)
    .trim()
    .split(/ +/);
  for (const word of words.slice(1)) if (rest[0] === word) rest.shift();
  return rest.join(' ');
}

function* partsOf(text: string, isRequired: boolean): Generator<Part> {
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    if (/[\s|,]/.test(char)) {
      at++;
      continue;
    }
    const inner = '[('.includes(char) ? balanced(text, at) : undefined;
    if (inner !== undefined) {
      at += inner.length + 2;
      const repeats = text.startsWith('...', at) || text.startsWith(' ...', at);
      const hasOptions = /(?:^|[\s[(|])(?:-[^\s-]|--[A-Za-z])/.test(inner);
      for (const alternative of joinedPair(alternativesOf(inner))) {
        for (const part of partsOfBracket(alternative, hasOptions))
          yield {
            ...part,
            isRequired: isRequired && char === '(' && part.isRequired,
            repeats: part.repeats || repeats,
          };
      }
      continue;
    }
    const end = endOfWord(text, at);
    const word = text.slice(at, end).replace(/,$/, '');
    at = end;
    const repeats = word.endsWith('...') || /^ ?\.\.\./.test(text.slice(at));
    const isEither = /^ *\|/.test(text.slice(at)) || isBehindBar(text, at - word.length);
    if (!/^[.]+$/.test(word)) yield { text: word, isRequired: isRequired && !isEither, repeats };
  }
}

function isBehindBar(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === ' ') before--;
  return text[before] === '|';
}

function* partsOfBracket(text: string, hasOptions: boolean): Generator<Part> {
  const [, option, value] = /^(-\S+?)(?: +([^\s-].*))?$/.exec(text) ?? [];
  if (
    option !== undefined &&
    !/[[(| ]-/.test(value ?? '') &&
    (value === undefined || !option.includes('|'))
  ) {
    yield { text: option, ...(value !== undefined && { value }), isRequired: false, repeats: false };
    return;
  }
  const isGroup = /^[^-]*[[(]|(?:^|[\s[(])-/.test(text);
  // A word after an option is its value.
  for (const part of isGroup ? partsOf(text, false) : [wholePart(text)])
    yield { ...part, isValueOnly: hasOptions };
}

/** A bracket without an option is one operand, even with several words. */
function wholePart(text: string): Part {
  return { text: text.replace(/ ?\.\.\.$/, ''), isRequired: false, repeats: text.endsWith('...') };
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/\s/.test(text[at]!)) {
    const inner = '<[{('.includes(text[at]!) ? balanced(text, at) : undefined;
    at += inner === undefined ? 1 : inner.length + 2;
  }
  return at;
}

/** `-v | --version` is one option, `-a | --patch` is two. */
function joinedPair(alternatives: string[]): string[] {
  const [short = '', long = ''] = alternatives;
  const isPair =
    alternatives.length === 2 && /^-[A-Za-z]$/.test(short) && long.startsWith(`-${short.toLowerCase()}`);
  return isPair ? [`${short}|${long}`] : alternatives;
}

/** The texts between the bars of a bracket, ignoring bars in inner brackets. */
function alternativesOf(text: string): string[] {
  const found = [''];
  for (let at = 0; at < text.length; ) {
    const inner = '<[{('.includes(text[at]!) ? balanced(text, at) : undefined;
    const piece = inner === undefined ? text[at]! : text.slice(at, at + inner.length + 2);
    if (piece === '|') found.push('');
    else found[found.length - 1] += piece;
    at += piece.length;
  }
  return found.map((each) => each.trim()).filter((each) => each !== '');
}

/** The options of one word of a usage line, such as `-v`, `-abc` or `--out=FILE`. The next word may be its value. */
function optionsOf({ text, value: own, isRequired, repeats }: Part, next: Part | undefined): FoundOption[] {
  const cluster = /^-([A-Za-z0-9#@?]{2,})$/.exec(text)?.[1];
  if (cluster !== undefined && isCluster(cluster))
    return [...cluster].map((letter) => switchOf(`-${letter}`, repeats));
  const follows = own === undefined && next !== undefined && isValue(next.text) && isBeside(next, isRequired);
  const value = own !== undefined ? ` ${own}` : follows ? ` ${next.text}` : '';
  if (follows) next.text = '--';
  const head = readHead(`${text}${value}`, 0);
  if (head === undefined) return [];
  if (value !== '' && head.value === null)
    head.value = { name: value.trim(), isOptional: false, isJoined: false };
  if (follows && isRequired && head.value !== null) head.value.isGuess = true;
  const { spellings, negations } = head;
  return [
    { spellings, negations, value: head.value, repeats: repeats || head.repeats, isRequired, text: '' },
  ];
}

function switchOf(spelling: string, repeats: boolean): FoundOption {
  return { spellings: [spelling], negations: [], value: null, repeats, isRequired: false, text: '' };
}

/** A word that is an operand of the usage line is not the value of an option in a bracket. */
function isBeside(next: Part, isRequired: boolean): boolean {
  return next.isValueOnly === true || isRequired;
}

function isValue(text: string): boolean {
  return !text.startsWith('-') && text !== '|' && !text.startsWith('(');
}

/** Switch letters in one word are sorted, which words rarely are; capitals are mixed in or separate. */
export function isCluster(letters: string): boolean {
  const falls = (order: readonly string[]) =>
    order.filter((letter, index) => index > 0 && letter < order[index - 1]!).length;
  const together = [...letters].map((letter) => (/[A-Za-z]/.test(letter) ? letter.toLowerCase() : ' '));
  const apart = [...letters].map((letter) => (/[A-Z]/.test(letter) ? `~${letter}` : letter));
  const least = Math.min(falls(together), falls(apart));
  return new Set(letters).size === letters.length && least <= Math.floor(letters.length / 6);
}
