import type { FoundOption, ReadHelp } from './help-shape.ts';
import { saysRepeats } from './repeats.ts';

const MAX_TEXT = 300;

/**
 * A help text completed from a further source. What the program itself says of an option stays; the source adds other
 * options, and what the help leaves open: that an option may be repeated, and its description.
 */
export function completed(help: ReadHelp, source: string, further: ReadHelp): ReadHelp {
  const options = help.options.map((option) => ({ ...option }));
  const known = new Map<string, FoundOption>();
  for (const option of options) for (const each of spellingsOf(option)) known.set(each, option);
  for (const option of further.options) {
    const same = option.spellings.map((each) => known.get(each)).find((each) => each !== undefined);
    if (same?.spellings.some((each) => option.spellings.includes(each))) {
      same.repeats ||= repeats(option) && same.value !== null;
      if (same.text === '') same.text = beginning(option.text);
      addLongSpelling(same, option, known);
    }
    for (const fresh of apart(option, known)) {
      const added = { ...fresh, repeats: repeats(option), text: beginning(option.text), source };
      options.push(added);
      for (const each of spellingsOf(added)) known.set(each, added);
    }
  }
  return {
    ...help,
    description: help.description || further.description,
    options,
    unread: [
      ...help.unread,
      ...further.unread.filter((line) => !help.unread.includes(line)).map((line) => `${line} (${source})`),
    ],
  };
}

/** A help that has the short spelling alone gets the long one. */
function addLongSpelling(to: FoundOption, { spellings }: FoundOption, known: Map<string, FoundOption>): void {
  const [long, ...others] = spellings.filter((each) => each.startsWith('--'));
  if (long === undefined || others.length > 0 || known.has(long)) return;
  if (to.spellings.some((each) => each.startsWith('--'))) return;
  to.spellings.push(long);
  known.set(long, to);
}

function spellingsOf({ spellings, negations }: FoundOption): string[] {
  return [...spellings, ...negations];
}

/**
 * The spellings that no other source has. Two long ones may be aliases (`--since, --after`) or two options that share a
 * description (`--author, --committer`), so each of them stays.
 */
function apart(option: FoundOption, known: ReadonlyMap<string, FoundOption>): FoundOption[] {
  const fresh = option.spellings.filter((each) => !known.has(each));
  const negations = option.negations.filter((each) => !known.has(each));
  const long = fresh.filter((each) => each.startsWith('--'));
  const isKnown = fresh.length < option.spellings.length;
  if (long.length > 1)
    return long.map((each) => ({
      ...option,
      spellings: [each],
      negations: negations.filter((negation) => negation === `--no-${each.slice('--'.length)}`),
    }));
  // A short spelling of a known option is no other option.
  return fresh.length === 0 || (isKnown && long.length === 0)
    ? []
    : [{ ...option, spellings: fresh, negations }];
}

function repeats({ repeats: isRepeated, text }: FoundOption): boolean {
  return isRepeated || saysRepeats(text);
}

/** The first sentences of a long description. */
function beginning(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const end = text.slice(0, MAX_TEXT).search(/\.(?= [A-Z][^.]*$)/);
  return end > 0 ? text.slice(0, end + 1) : `${text.slice(0, MAX_TEXT).trimEnd()}…`;
}
