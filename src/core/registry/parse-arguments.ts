import { flagOf } from '../../protocol/input-types.ts';
import type { InputSpec } from '../../protocol/manifest.ts';
import { nearestWords } from '../../util/nearest.ts';
import { type ArgumentProblem, usageProblem } from './argument-problem.ts';
import type { UnlistedInput } from './input-schema.ts';
import type { GivenValue } from './input-values.ts';

/** A parsed command line: values by input, the sources of `--input-json`, and the problems. */
export interface ParsedArguments {
  given: Map<string, GivenValue[]>;
  /** The inputs of the given flags that no input of the list declares. */
  unlisted: InputSpec[];
  inputJson: string[];
  /** Flags that no input declares, with their values, when the tool takes them. */
  extra: string[];
  /** Words behind the positional inputs, when the tool takes them. */
  behind: string[];
  problems: ArgumentProblem[];
}

const INPUT_JSON = '--input-json';

/**
 * Parses the words of a command line for a tool's inputs: flags in all spellings, positionals, `--`. `unlisted` knows further inputs by their
 * names. `takesExtra`: it takes any other word, too.
 */
export function parseArguments(
  specs: readonly InputSpec[],
  words: readonly string[],
  { takesExtra = false, unlisted }: { takesExtra?: boolean; unlisted?: UnlistedInput | undefined } = {},
): ParsedArguments {
  const flags = flagTable(specs);
  const parsed: ParsedArguments = {
    given: new Map(),
    unlisted: [],
    inputJson: [],
    extra: [],
    behind: [],
    problems: [],
  };
  const positionals: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      positionals.push(...rest.splice(0));
    } else if (isPositional(word, specs, flags)) {
      positionals.push(word);
    } else {
      const [first, ...others] = separated(word, flags) ?? [word];
      rest.unshift(...others);
      takeFlag(first!, rest, { specs, flags, parsed, takesExtra, unlisted });
    }
  }
  placePositionals(specs, positionals, parsed, takesExtra);
  return parsed;
}

/** The values of a flag among the words of a call whose inputs are not known yet, in both spellings: `--flag value` and `--flag=value`. */
export function valuesOfFlag(flag: string, words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    if (word === flag) return words[at + 1] ?? [];
    return word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : [];
  });
}

/** Whether a call takes its inputs as JSON from standard input. */
export function asksForStdin(words: readonly string[]): boolean {
  return valuesOfFlag(INPUT_JSON, words).includes('-');
}

/** The meaning of a spelling: an input, and for a bool the value that it sets. */
interface Flag {
  spec: InputSpec | null;
  sets?: boolean;
}

type FlagTable = Map<string, Flag>;

function flagTable(specs: readonly InputSpec[]): FlagTable {
  const table: FlagTable = new Map();
  for (const spec of specs) {
    if (spec.type === 'bool') table.set(`--no-${spec.name.replaceAll('_', '-')}`, { spec, sets: false });
  }
  for (const spec of specs) {
    const flag: Flag = spec.type === 'bool' ? { spec, sets: true } : { spec };
    for (const spelling of [`--${spec.name}`, flagOf({ name: spec.name }), flagOf(spec), ...shortOf(spec)])
      table.set(spelling, flag);
  }
  if (!table.has(INPUT_JSON)) table.set(INPUT_JSON, { spec: null });
  return table;
}

function shortOf({ short }: InputSpec): string[] {
  return short === undefined ? [] : [short];
}

function isPositional(word: string, specs: readonly InputSpec[], flags: FlagTable): boolean {
  if (!word.startsWith('-') || word === '-') return true;
  const looksNegative = /^-\.?\d/.test(word) && !flags.has(word) && !flags.has(word.slice(0, 2));
  return looksNegative && specs.some((spec) => spec.positional);
}

interface Reading {
  specs: readonly InputSpec[];
  flags: FlagTable;
  parsed: ParsedArguments;
  takesExtra: boolean;
  unlisted: UnlistedInput | undefined;
}

/** The input that a flag names, where no input of the list declares the flag. */
function unlistedOf(spelling: string, unlisted: UnlistedInput | undefined): InputSpec | undefined {
  if (unlisted === undefined || !spelling.startsWith('--')) return undefined;
  const name = spelling.slice(2);
  return unlisted(name) ?? unlisted(name.replaceAll('-', '_'));
}

/** The meaning of a flag that is given. An unlisted input becomes one of the known ones. */
function meaningOf(spelling: string, { flags, parsed, unlisted }: Reading): Flag | undefined {
  const known = flags.get(spelling);
  const spec = known ? undefined : unlistedOf(spelling, unlisted);
  if (spec === undefined) return known;
  parsed.unlisted.push(spec);
  for (const [each, flag] of flagTable([spec])) if (!flags.has(each)) flags.set(each, flag);
  return flags.get(spelling);
}

function takeFlag(word: string, rest: string[], reading: Reading): void {
  const { flags, parsed } = reading;
  const { spelling, attached } = splitFlag(word, flags);
  const flag = meaningOf(spelling, reading);
  if (flag === undefined && reading.takesExtra) {
    parsed.extra.push(word);
    // The next word is most likely the flag's value, unless it may be a positional input.
    const takesNext = attached === undefined && !reading.specs.some((spec) => spec.positional);
    if (takesNext && rest[0]?.startsWith('-') === false) parsed.extra.push(rest.shift()!);
    return;
  }
  if (flag === undefined) {
    parsed.problems.push(unknownFlag(spelling, flags));
    // The next word is most likely the unknown flag's value: report one problem, not two.
    if (
      attached === undefined &&
      rest[0]?.startsWith('-') === false &&
      !reading.specs.some((spec) => spec.positional)
    )
      rest.shift();
    return;
  }
  if (flag.sets !== undefined) {
    give(flag.spec!, flag.sets ? { text: attached ?? 'true' } : { text: negated(attached) }, parsed);
    return;
  }
  const value = attached ?? takeValue(rest, reading);
  if (value === undefined) {
    const name = flag.spec?.name ?? 'input-json';
    parsed.problems.push(
      usageProblem(
        name,
        'value',
        `${spelling} needs a value`,
        `Write ${spelling} <${flag.spec?.type ?? 'json'}>.`,
      ),
    );
  } else if (flag.spec === null) {
    parsed.inputJson.push(value);
  } else {
    give(flag.spec, { text: value }, parsed);
  }
}

/** `-rc` as `-r -c`, where both are known: switches, and at the end perhaps a flag with its value. Undefined for anything else. */
function separated(word: string, flags: FlagTable): string[] | undefined {
  if (flags.has(word)) return [word];
  if (!/^-[^-]./.test(word)) return undefined;
  const flag = flags.get(word.slice(0, 2));
  if (flag === undefined || flag.sets === undefined) return flag && [word];
  const others = separated(`-${word.slice(2)}`, flags);
  return others && [word.slice(0, 2), ...others];
}

/** Splits `--name=value`, `-n=value` and `-nvalue`. */
function splitFlag(word: string, flags: FlagTable): { spelling: string; attached?: string } {
  if (flags.has(word)) return { spelling: word };
  const equals = word.indexOf('=');
  if (equals > 0 && (word.startsWith('--') || flags.has(word.slice(0, equals)))) {
    return { spelling: word.slice(0, equals), attached: word.slice(equals + 1) };
  }
  const short = word.slice(0, 2);
  const flag = word.startsWith('--') ? undefined : flags.get(short);
  return flag !== undefined && flag.sets === undefined
    ? { spelling: short, attached: word.slice(2) }
    : { spelling: word };
}

function takeValue(rest: string[], { flags, unlisted }: Reading): string | undefined {
  const [next] = rest;
  if (next === undefined || next === '--' || flags.has(next)) return undefined;
  const [flag] = next.split('=', 1) as [string];
  if (next.startsWith('--') && (flags.has(flag) || unlistedOf(flag, unlisted))) return undefined;
  return rest.shift();
}

/** `--no-x=false` means true. Anything except true and false fails the check of the value. */
function negated(attached: string | undefined): string {
  if (attached === undefined || attached === 'true') return 'false';
  return attached === 'false' ? 'true' : attached;
}

function give(spec: InputSpec, value: GivenValue, { given, problems }: ParsedArguments): void {
  const values = given.get(spec.name);
  if (values === undefined) given.set(spec.name, [value]);
  else if (spec.multiple) values.push(value);
  else
    problems.push(
      usageProblem(spec.name, 'given-twice', `'${spec.name}' is passed more than once`, 'Pass it once.'),
    );
}

function placePositionals(
  specs: readonly InputSpec[],
  words: string[],
  parsed: ParsedArguments,
  takesExtra: boolean,
): void {
  const open = specs.filter((spec) => spec.positional && !parsed.given.has(spec.name));
  for (const word of words) {
    const spec = open[0];
    if (spec === undefined && takesExtra) {
      parsed.behind.push(word);
      continue;
    }
    if (spec === undefined) {
      const missing = onlyMissing(specs, parsed, words);
      const hasFlags = specs.some((each) => !each.positional);
      parsed.problems.push(
        usageProblem(
          word,
          'unexpected',
          `unexpected argument '${word}'`,
          missing !== undefined
            ? `Write ${missing} in front of it.`
            : hasFlags
              ? 'Put the flag that it belongs to in front of it, or quote it.'
              : 'Leave it out.',
        ),
      );
      continue;
    }
    give(spec, { text: word }, parsed);
    if (!spec.multiple) open.shift();
  }
}

/** The flag of the one input that is required and not given, when there is one word for it. */
function onlyMissing(
  specs: readonly InputSpec[],
  { given }: ParsedArguments,
  words: readonly string[],
): string | undefined {
  const missing = specs.filter((spec) => spec.required && !given.has(spec.name));
  return words.length === 1 && missing.length === 1 ? flagOf(missing[0]!) : undefined;
}

function unknownFlag(spelling: string, flags: FlagTable): ArgumentProblem {
  const isShort = /^-[^-]/.test(spelling);
  // Every letter is one edit away from every other one: a short flag is only the beginning of a long one.
  const [nearest] = isShort ? [] : nearestWords(spelling, flags.keys(), 1);
  // Each input has several spellings; its own flag is the last one.
  const bySpec = new Map([...flags].map(([flag, { spec }]) => [spec, flag] as const));
  const known = [...bySpec.values()].filter((flag) => flag !== INPUT_JSON && !flag.startsWith('--no-'));
  const begun = isShort ? known.filter((flag) => flag.startsWith(`-${spelling.slice(0, 2)}`)) : [];
  return usageProblem(
    spelling,
    'unknown-flag',
    `unknown flag ${spelling}${nearest ? `; did you mean ${nearest}?` : ''}`,
    nearest
      ? `Write ${nearest}.`
      : begun.length > 0
        ? `Write the long flag. Those with this letter: ${begun.join(', ')}.`
        : known.length > 0
          ? `Known flags: ${known.join(', ')}.`
          : 'The tool takes no flags.',
  );
}
