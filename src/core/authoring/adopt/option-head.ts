import type { ValueShape } from './help-shape.ts';
import { isMetavar } from './value-words.ts';

/** The option spellings and values at the start of a line, before the description. */
export interface OptionHead {
  spellings: string[];
  negations: string[];
  value: ValueShape | null;
  repeats: boolean;
  /** Text of the head that also belongs to the description. */
  text?: string;
  /** The end of the head in the line. */
  end: number;
  /** Whether a gap, a colon or the end of the line follows. Prose that begins with an option has none of these. */
  isClean: boolean;
}

const SPELLING =
  /--?(?:\[no-?\])?(?:[?#@%:](?![A-Za-z0-9])|[A-Za-z0-9])(?:\[no-?\]|[A-Za-z0-9_?-]|[.:](?=[A-Za-z0-9]))*/y;
const ALTERNATIVE = / *, *(?=-[^ ])| *\| *(?=-[^ ])| +or +(?=-[^ ])| *\/ *(?=--)/y;
const CLEAN_END = / {2}| *$| *: | *:$/y;
const CAPITALS = /[A-Z][A-Z0-9_-]*(?:\[[^\]\s]*\])?(?:[=:|,/][A-Z][A-Z0-9_-]*)*(?=$|[\s,.\])|=[])/y;
const MAX_WORDS = 3;

/** Parses the option head that begins at `start`. Undefined when there is no option. */
export function readHead(line: string, start: number): OptionHead | undefined {
  const head: OptionHead = {
    spellings: [],
    negations: [],
    value: null,
    repeats: false,
    end: start,
    isClean: false,
  };
  let isNegation = false;
  // `-<number>, -n <number>`: a number as an option has no name, and the spelling after it says the same.
  for (let at = start + (match(/-<[a-z]+>, +(?=-)/y, line, start)?.length ?? 0); ; ) {
    const word = match(SPELLING, line, at);
    // `--force-<thing>` is a family of options, not one option.
    if (word?.endsWith('-') && line[at + word.length] === '<') return undefined;
    if (word === undefined || /^-(?:NUM|NUMBER|DIGIT|LEVEL)$/.test(word)) break;
    at = takeWord(line, at, word, head, isNegation);
    head.end = at;
    const separator = match(ALTERNATIVE, line, at) ?? pairOf(line, at, head);
    if (separator === undefined) break;
    at += separator.length;
    // `--color / --no-color` is a switch; behind a value, the slash leads to another spelling.
    isNegation ||= head.value === null && / \/ /.test(separator);
  }
  if (head.spellings.length === 0) return undefined;
  takeNegations(head);
  takeDefault(line, head);
  head.isClean = match(CLEAN_END, line, head.end) !== undefined;
  return head;
}

/** `--no-color, --color[=WHEN]`: the one without `no-` names the option. */
function takeNegations(head: OptionHead): void {
  const isOpposite = (each: string) =>
    each.startsWith('--no-') && head.spellings.includes(`--${each.slice('--no-'.length)}`);
  head.negations.push(...head.spellings.filter(isOpposite));
  head.spellings = head.spellings.filter((each) => !isOpposite(each));
}

/** `--output='':` alone on its line: the text after `=` is the default, not a value name. */
function takeDefault(line: string, head: OptionHead): void {
  const found = /=('[^']*'|true|false|-?\d+[a-z]*|\[.*\]|[a-z-]+):$/.exec(line)?.[1];
  if (found === undefined || head.value?.isJoined !== true || head.end < line.length) return;
  head.end = line.length;
  head.text = ` (default ${found.replaceAll("'", '"')})`;
  if (found === 'true' || found === 'false') head.value = null;
  else head.value.name = /^-?\d+$/.test(found) ? 'int' : found === '[]' ? 'strings' : 'string';
}

/** Parses one spelling with its value. Returns the end offset. */
function takeWord(line: string, start: number, word: string, head: OptionHead, isNegation: boolean): number {
  const glued = gluedValue(word);
  const [spelling, negation] = bothOf(glued?.spelling ?? word);
  (isNegation ? head.negations : head.spellings).push(spelling!);
  if (negation !== undefined) head.negations.push(negation);
  let at = start + word.length;
  if (glued !== undefined) head.value ??= { name: glued.name, isOptional: false, isJoined: true };
  const found = glued === undefined ? readValue(line, at) : undefined;
  if (found !== undefined) {
    // When the spellings differ in form, the long one decides.
    if (head.value === null || word.startsWith('--')) head.value = found.value;
    at = found.end;
  }
  const more = match(/ ?\.\.\.|\[?,?\.\.\.\]?/y, line, at);
  if (head.value?.name === '...') head.value.name = 'VALUE';
  if (head.value !== null && /\.{3}>?$/.test(head.value.name)) {
    head.value.name = head.value.name.replace(/[ ,]*\.{3}(>?)$/, '$1');
    head.repeats = true;
  }
  if (more !== undefined) {
    head.repeats = true;
    at += more.length;
  }
  return at;
}

/** `--[no-]color` means two spellings. */
function bothOf(word: string): string[] {
  const open = word.indexOf('[');
  if (open < 0) return [word];
  const close = word.indexOf(']');
  const [before, inside, after] = [word.slice(0, open), word.slice(open + 1, close), word.slice(close + 1)];
  return [before + after, before + inside + after];
}

/** `-Idirectory` is -I with its value, but `-directory` is one option. */
function gluedValue(word: string): { spelling: string; name: string } | undefined {
  const [, spelling, name] = /^(-[A-Z])([a-z]{3,})$/.exec(word) ?? [];
  return spelling !== undefined && name !== undefined && isMetavar(name) ? { spelling, name } : undefined;
}

/** Docopt writes `-o FILE --output=FILE`: the short spelling, then the long one. */
function pairOf(line: string, at: number, { spellings }: OptionHead): string | undefined {
  return spellings.length === 1 && /^-[^-]$/.test(spellings[0]!)
    ? match(/ (?=--[a-z])/y, line, at)
    : undefined;
}

function readValue(line: string, at: number): { value: ValueShape; end: number } | undefined {
  const shape = (name: string, isOptional: boolean, isJoined: boolean, end: number) => ({
    value: { name, isOptional, isJoined },
    end,
  });
  const next = line[at];
  if (next === '[') {
    const inner = balanced(line, at);
    if (inner === undefined) return undefined;
    const name = inner.replace(/^=/, '');
    return shape(name === '' ? 'VALUE' : name, true, true, at + inner.length + 2);
  }
  if (next === '#') {
    const text = match(/#+/y, line, at)!;
    return shape(text, false, true, at + text.length);
  }
  if (next === '/') {
    const text = match(/\/[a-z]+\/(?= )/y, line, at);
    return text === undefined ? undefined : shape(text, false, true, at + text.length);
  }
  if (next === '=' || next === '<') {
    const from = next === '=' ? at + 1 : at;
    const text = valueToken(line, from);
    return text === undefined ? undefined : shape(text, false, true, from + text.length);
  }
  if (next !== ' ' || line[at + 1] === ' ') return undefined;
  const text = valueWords(line, at + 1);
  if (text === undefined) return undefined;
  const isOptional = text.startsWith('[') && text.endsWith(']') && !text.includes('|');
  return shape(
    isOptional ? text.slice(1, -1).replace(/^=/, '') : text,
    isOptional,
    false,
    at + 1 + text.length,
  );
}

/** The text after `=`: a word, or brackets with the text joined to them. */
function valueToken(line: string, at: number): string | undefined {
  let end = at;
  while (end < line.length && !/[\s]/.test(line[end]!)) {
    const inner = '<[{('.includes(line[end]!) ? balanced(line, end) : undefined;
    end += inner === undefined ? 1 : inner.length + 2;
  }
  if (line.slice(at, end) === '...') return '...';
  const text = line.slice(at, end).replace(/(?:,|\.{3}|\[,\.{3}\])$/, '');
  return text === '' ? undefined : text;
}

/** The text after a space: words in brackets or capitals, or, before a gap, a few lowercase words. */
function valueWords(line: string, start: number): string | undefined {
  const words: string[] = [];
  for (let at = start; words.length < MAX_WORDS; ) {
    const bracketed = '<[{('.includes(line[at] ?? ' ') ? valueToken(line, at) : undefined;
    const word = bracketed ?? match(CAPITALS, line, at);
    if (word === undefined || (words.length > 0 && /^\[?(?:default|possible)/.test(word))) break;
    // After brackets, capitals belong to the description.
    if (words.length > 0 && /^[<[{(]/.test(words[0]!) && !/^[<[]/.test(word)) break;
    words.push(word);
    at += word.length + 1;
    if (line[at - 1] !== ' ' || line[at] === ' ') break;
  }
  if (words.length > 0) return words.join(' ');
  const small = match(
    /[a-z+][\w+./:|=#-]*(?: [a-z+][\w+./:|-]*){0,1}(?=$| {2}| : |, -|:$| \/ --)/y,
    line,
    start,
  );
  return small?.replace(/:$/, '');
}

/** Brackets that are nested deeper are noise. Because of this limit only so many searches for a partner cross each character. */
const MAX_NESTED = 50;

/** The text between a bracket and its partner. */
export function balanced(line: string, at: number): string | undefined {
  let depth = 0;
  for (let end = at; end < line.length; end++) {
    if ('<[{('.includes(line[end]!)) {
      if (++depth > MAX_NESTED) return undefined;
    } else if ('>]})'.includes(line[end]!) && --depth === 0) return line.slice(at + 1, end);
  }
  return undefined;
}

function match(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}
