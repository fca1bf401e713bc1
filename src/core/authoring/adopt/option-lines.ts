import type { FoundOption } from './help-shape.ts';
import { type OptionHead, readHead } from './option-head.ts';
import { indentOf } from './plain-lines.ts';
import { isCluster } from './usage.ts';

const MANY = 3;
/** A heading without a colon, at the beginning of a line. */
const OPTION_TITLE = /^(?:global |inherited |more |other )?(?:options|flags|arguments)$/i;

/**
 * The options that a help text lists, one at the start of each line, and the lines that look like options but could not
 * be parsed.
 */
export function readOptionLines(lines: readonly string[]): { options: FoundOption[]; unread: string[] } {
  const heads = headsOf(lines);
  const options: FoundOption[] = [];
  const unread: string[] = [];
  for (const [index, line] of lines.entries()) {
    const found = heads.get(index);
    if (found === undefined) continue;
    if (found === 'unread') unread.push(line.trim());
    else if (Array.isArray(found)) options.push(...found.map((head) => optionOf(head, '')));
    else options.push(optionOf(found, descriptionOf(lines, index, found, heads)));
  }
  return { options, unread };
}

function optionOf({ spellings, negations, value, repeats }: OptionHead, text: string): FoundOption {
  return { spellings, negations, value, repeats, isRequired: false, text };
}

type Heads = Map<number, OptionHead | OptionHead[] | 'unread'>;

/** The lines that begin an option. A line inside a description may begin with a dash without being an option. */
function headsOf(lines: readonly string[]): Heads {
  const heads: Heads = new Map();
  const cleanIndents = new Set<number>();
  const doubtful: { index: number; head: OptionHead }[] = [];
  let textColumn = Number.POSITIVE_INFINITY;
  let isAside = false;
  for (const [index, line] of lines.entries()) {
    const indent = indentOf(line);
    if (line === '') continue;
    if (line[indent] !== '-') {
      if (indent <= 2 && /^(?:some |more )?examples?\b/i.test(line.trim())) isAside = true;
      else if (isTitle(line) || OPTION_TITLE.test(line)) isAside = false;
      // The line after a head that is alone on its line shows the column of descriptions.
      const above = heads.get(index - 1);
      if (
        isHead(above) &&
        lines[index - 1]!.trimEnd().length <= above.end &&
        indent > indentOf(lines[index - 1]!)
      )
        textColumn = indent;
      if (indent === 0) textColumn = Number.POSITIVE_INFINITY;
      continue;
    }
    if (isAside || indent >= textColumn) continue;
    const many = manyHeads(line, indent);
    if (many !== undefined) {
      heads.set(index, many);
      continue;
    }
    const head = readHead(line, indent);
    if (head === undefined) {
      if (/^--?[A-Za-z[]/.test(line.trim())) heads.set(index, 'unread');
      continue;
    }
    if (!head.isClean) {
      doubtful.push({ index, head });
      continue;
    }
    heads.set(index, head);
    cleanIndents.add(indent);
    const rest = /^[ :]*/.exec(line.slice(head.end))![0].length;
    textColumn = head.end + rest < line.length ? head.end + rest : Number.POSITIVE_INFINITY;
  }
  for (const { index, head } of doubtful) {
    const indent = indentOf(lines[index]!);
    const above = lines[index - 1] ?? '';
    const isInProse = above !== '' && indentOf(above) === indent && !heads.has(index - 1);
    if (cleanIndents.has(indent) && !isInProse) heads.set(index, head);
  }
  return heads;
}

function isHead(head: OptionHead | OptionHead[] | 'unread' | undefined): head is OptionHead {
  return head !== undefined && head !== 'unread' && !Array.isArray(head);
}

/** A heading, for example `Options:` or `COMMAND LINE FLAGS`. */
export function isTitle(line: string): boolean {
  const text = line.trim();
  return indentOf(line) <= 2 && (/^[A-Za-z][^.]{0,60}:$/.test(text) || /^[A-Z][A-Z ]{3,40}$/.test(text));
}

/** A line that contains only options, as in the help of `find` and of the digests of `openssl`. */
function manyHeads(line: string, indent: number): OptionHead[] | undefined {
  const found: OptionHead[] = [];
  const [, letters] = /^ *-([A-Za-z]{4,}) or -/.exec(line) ?? [];
  if (letters !== undefined && isCluster(letters)) {
    const others = line.split(/ or (?=-)/).slice(1);
    const heads = others.map((text) => readHead(text.replace(/ {2,}.*/, ''), 0));
    return [...[...letters].map((letter) => readHead(`-${letter}`, 0)), ...heads].filter(
      (each) => each !== undefined,
    );
  }
  for (let at = indent; at < line.length; ) {
    const head = readHead(line, at);
    if (head === undefined) return undefined;
    // A description may begin with an option. In that case a gap precedes it and words follow.
    found.push(head);
    const rest = /^(?: *;| (?:\{\} )?\+)? +(?=-[A-Za-z])/.exec(line.slice(head.end))?.[0];
    if (rest === undefined) {
      if (/^[ ;]*$/.test(line.slice(head.end))) break;
      return undefined;
    }
    at = head.end + rest.length;
  }
  return found.length >= MANY ? found : undefined;
}

/** The words beside an option and below it, as one line. */
function descriptionOf(lines: readonly string[], index: number, head: OptionHead, heads: Heads): string {
  const line = lines[index]!;
  const indent = indentOf(line);
  const parts = [line.slice(head.end).replace(/^[\s:]+/, '')];
  const isAlone = parts[0] === '';
  for (let at = index + 1; at < lines.length && !heads.has(at); at++) {
    const next = lines[at]!;
    if (next === '') {
      if (isAlone && indentOf(lines[at + 1] ?? '') <= indent) break;
      continue;
    }
    // Some programs put the description below the option, at the same column.
    const isBelow = isAlone && indentOf(next) === indent && lines[at - 1] !== '' && !isTitle(next);
    if (indentOf(next) <= indent && !isBelow) break;
    parts.push(next.trim());
  }
  return parts.filter((part) => part !== '').join(' ') + (head.text ?? '');
}
