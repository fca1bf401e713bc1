import { nearest } from '../util/nearest.ts';
import { didYouMean, type UsageProblem } from './app-error.ts';
import { GLOBAL_FLAGS, type GlobalFlags, NO_GLOBAL_FLAGS } from './globals.ts';
import type { OperationDescription } from './operation.ts';
import { label, type ParameterForm } from './parameters.ts';

/** A parsed command line, before the schema validates it. */
export interface CommandLine {
  globals: GlobalFlags;
  /** The texts for each input key; a boolean represents a bare `--x` or `--no-x`. */
  given: Map<string, (string | boolean)[]>;
  /** The unparsed arguments after the first positional, for an operation that passes them through. */
  passthrough: string[] | undefined;
  inputJson: string | undefined;
  /** The index of the global `--offset` among the arguments, and the number of arguments that it takes. */
  offsetAt: { index: number; count: number } | undefined;
  /** The positionals that no input key takes. */
  unplaced: string[];
  problems: UsageProblem[];
}

/** How a flag is written: with a value or without, and with which letter. */
export interface FlagForm {
  type: 'boolean' | 'string';
  short?: string;
}

/** A flag of a command line. `value` is undefined for a flag without a value; the index is that of the argument. */
interface OptionToken {
  kind: 'option';
  /** Without dashes; of a known letter the long name. */
  name: string;
  /** As it is written. */
  rawName: string;
  index: number;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

type Token =
  | OptionToken
  | { kind: 'positional'; index: number; value: string }
  | { kind: 'option-terminator'; index: number };

/** Parses the arguments after the command's words. Collects all problems and never throws. */
export function readFlags(
  parameters: readonly ParameterForm[],
  args: readonly string[],
  op: Pick<OperationDescription, 'positionals' | 'passthrough'> = {},
): CommandLine {
  // Without a flag there is nothing to look up.
  const hasFlags = args.some((arg) => arg.startsWith('-'));
  const names = hasFlags ? new FlagNames(parameters, op.passthrough) : undefined;
  const tokens = names === undefined ? args.map(asPositional) : tokenize(args, names);
  const line: CommandLine = {
    globals: { ...NO_GLOBAL_FLAGS },
    given: new Map(),
    passthrough: undefined,
    inputJson: undefined,
    offsetAt: undefined,
    unplaced: [],
    problems: [],
  };
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'option' && names !== undefined) readOption(line, names, token);
    if (token.kind !== 'positional') continue;
    positionals.push(token.value);
    if (op.passthrough === undefined) continue;
    line.passthrough = args.slice(token.index + 1);
    break;
  }
  fillPositionals(line, parameters, op, positionals);
  return line;
}

/** The flags of a command: its own, which take precedence, and the global ones. */
class FlagNames {
  readonly #own = new Map<string, ParameterForm>();
  readonly #negated = new Map<string, ParameterForm>();

  constructor(parameters: readonly ParameterForm[], passthrough: string | undefined) {
    const flags = parameters.filter((each) => each.key !== passthrough);
    for (const each of flags) {
      this.#own.set(each.flag, each);
      // `--input-json` uses the key's own spelling, so accept it here too.
      this.#own.set(each.key, each);
      if (each.kind === 'boolean' && !each.isArray) this.#negated.set(`no-${each.flag}`, each);
    }
  }

  own(name: string): ParameterForm | undefined {
    return this.#own.get(name);
  }

  negated(name: string): ParameterForm | undefined {
    return this.#own.has(name) ? undefined : this.#negated.get(name);
  }

  global(name: string): (typeof GLOBAL_FLAGS)[number] | undefined {
    return this.#own.has(name) ? undefined : GLOBAL_FLAGS.find((flag) => flag.name === name);
  }

  all(): string[] {
    const own = [...this.#own.values()].map((each) => each.flag);
    return [...new Set([...own, ...this.#negated.keys(), ...GLOBAL_FLAGS.map((flag) => flag.name)])];
  }

  /** The command's own flags, listed after an unknown flag. */
  listed(): { fix?: string } {
    const own = [...new Set(this.#own.values())].filter((each) => !each.isPositional);
    return own.length === 0 ? {} : { fix: `Its flags: ${own.map(label).join(', ')}.` };
  }

  forms(): Record<string, FlagForm> {
    const options: Record<string, FlagForm> = {};
    for (const flag of GLOBAL_FLAGS) {
      const short = flag.short === undefined ? {} : { short: flag.short };
      options[flag.name] = { type: flag.type === 'boolean' ? 'boolean' : 'string', ...short };
    }
    for (const [name, each] of this.#own) {
      const type = each.kind === 'boolean' && !each.isArray ? 'boolean' : 'string';
      options[name] = { type, ...(each.short !== undefined && name === each.flag && { short: each.short }) };
    }
    return options;
  }
}

function asPositional(value: string, index: number): Token {
  return { kind: 'positional', index, value };
}

// An argument such as `-3` is a number and not flags.
function tokenize(args: readonly string[], names: FlagNames): Token[] {
  const tokens = tokensOf(args, names.forms());
  const seen = new Set<number>();
  return tokens.flatMap((token): Token[] => {
    if (token.kind !== 'option' || !/^-[\d.]/.test(args[token.index] ?? '')) return [token];
    if (seen.has(token.index)) return [];
    seen.add(token.index);
    return [asPositional(args[token.index]!, token.index)];
  });
}

function readOption(line: CommandLine, names: FlagNames, token: OptionToken): void {
  const written = `--${token.name}`;
  const own = names.own(token.name);
  const negated = names.negated(token.name);
  const global = names.global(token.name);
  if (own !== undefined) readOwn(line, own, token);
  else if (negated !== undefined) {
    if (token.value === undefined) give(line, negated, false);
    else line.problems.push({ parameter: written, message: `${written} takes no value` });
  } else if (global !== undefined) readGlobal(line, global.name, global.type === 'boolean', token);
  else {
    const guess = nearest(token.name, names.all());
    const fix = guess === undefined ? names.listed() : didYouMean(`--${guess}`);
    line.problems.push({ parameter: token.rawName, message: `unknown flag ${token.rawName}`, ...fix });
  }
}

function readOwn(line: CommandLine, parameter: ParameterForm, token: OptionToken): void {
  if (parameter.kind === 'boolean' && !parameter.isArray && token.value === undefined) {
    give(line, parameter, true);
    return;
  }
  const value = optionValue(line, token, parameter.isSecret);
  if (value !== undefined) give(line, parameter, value);
}

function give(line: CommandLine, parameter: ParameterForm, value: string | boolean): void {
  const before = line.given.get(parameter.key);
  if (before === undefined) line.given.set(parameter.key, [value]);
  else if (parameter.isArray) before.push(value);
  else {
    const where = label(parameter);
    line.problems.push({ parameter: where, message: `${where} is repeated; it takes one value` });
  }
}

/** Whether a text after a flag is probably the next flag. */
export function looksLikeFlag(text: string): boolean {
  return /^--[a-z]/i.test(text);
}

/** A flag's value. If the next text looks like a flag, the value was probably forgotten. */
function optionValue(line: CommandLine, token: OptionToken, isSecret = false): string | undefined {
  const value = token.value;
  if (value !== undefined && (token.inlineValue || !looksLikeFlag(value))) return value;
  const known = isSecret
    ? `Write its value as ${token.rawName}=VALUE`
    : `If ${value} is the value, write ${token.rawName}=${value}`;
  const fix = value === undefined ? {} : { fix: known };
  line.problems.push({ parameter: token.rawName, message: `${token.rawName} needs a value`, ...fix });
  return undefined;
}

function readGlobal(line: CommandLine, name: string, isBoolean: boolean, token: OptionToken): void {
  const { globals, problems } = line;
  const wrong = (message: string) =>
    problems.push({ parameter: `--${name}`, message: `--${name} ${message}` });
  if (isBoolean) {
    if (token.value !== undefined) wrong('takes no value');
    else Object.assign(globals, { [name]: true });
    return;
  }
  const text = optionValue(line, token);
  if (text === undefined) return;
  switch (name) {
    case 'fields': {
      const paths = text.split(',').map((path) => path.trim());
      if (paths.some((path) => path === '')) wrong('must be names separated by commas');
      else globals.fields = [...(globals.fields ?? []), ...paths];
      return;
    }
    case 'limit':
    case 'offset':
    case 'max-tokens': {
      const key = name === 'max-tokens' ? 'maxTokens' : name;
      if (globals[key] !== undefined) wrong('is repeated; it takes one value');
      else if (!/^\d{1,15}$/.test(text)) wrong(`must be a whole number from 0, not ${JSON.stringify(text)}`);
      else globals[key] = Number(text);
      if (name === 'offset') line.offsetAt = { index: token.index, count: token.inlineValue ? 1 : 2 };
      return;
    }
    case 'format':
      if (text === 'text') globals.text = true;
      else if (text === 'json') globals.json = true;
      else wrong(`must be text or json, not ${JSON.stringify(text)}`);
      return;
    case 'cwd':
      if (globals.cwd !== undefined) wrong('is repeated; it takes one value');
      else globals.cwd = text;
      return;
    default:
      if (line.inputJson !== undefined) wrong('is repeated; it takes one value');
      else line.inputJson = text;
  }
}

function fillPositionals(
  line: CommandLine,
  parameters: readonly ParameterForm[],
  op: Pick<OperationDescription, 'positionals' | 'passthrough'>,
  texts: readonly string[],
): void {
  const places: ParameterForm[] = [];
  for (const key of op.positionals ?? []) {
    const place = parameters.find((each) => each.key === key);
    if (place !== undefined) places.push(place);
  }
  const last = places[places.length - 1];
  for (let index = 0; index < texts.length; index++) {
    const place = places[index] ?? (last?.isArray ? last : undefined);
    if (place !== undefined) give(line, place, texts[index]!);
    else line.unplaced.push(texts[index]!);
  }
  // After an unknown flag, a text without dashes is probably its value.
  if (line.problems.some((problem) => problem.message.startsWith('unknown flag'))) return;
  const fix = places.length === 0 ? 'It takes flags only.' : `It takes ${places.map(label).join(' ')}.`;
  for (const text of line.unplaced) {
    line.problems.push({ parameter: text, message: `unexpected argument ${JSON.stringify(text)}`, fix });
  }
}

/**
 * Splits arguments into flags and positionals, as `parseArgs` of `node:util` does when it is not strict. That module takes a
 * millisecond to load.
 */
export function tokensOf(args: readonly string[], forms: Readonly<Record<string, FlagForm>>): Token[] {
  const tokens: Token[] = [];
  const longNames = new Map(
    Object.entries(forms).flatMap(([name, { short }]) => (short === undefined ? [] : [[short, name]])),
  );
  const takesValue = (name: string) => Object.hasOwn(forms, name) && forms[name]!.type === 'string';
  let at = 0;

  const option = (name: string, rawName: string, inline: string | undefined, index: number) => {
    const followed = inline === undefined && takesValue(name) && at < args.length;
    const value = followed ? args[at++] : inline;
    tokens.push({
      kind: 'option',
      name,
      rawName,
      index,
      value,
      inlineValue: value === undefined ? undefined : !followed,
    });
  };
  const letters = (text: string, index: number) => {
    for (let i = 0; i < text.length; i++) {
      const letter = text[i]!;
      const name = longNames.get(letter) ?? letter;
      const rest = text.slice(i + 1);
      if (takesValue(name) && rest !== '') return option(name, `-${letter}`, rest, index);
      option(name, `-${letter}`, undefined, index);
    }
  };
  while (at < args.length) {
    const index = at++;
    const arg = args[index]!;
    if (arg === '--') {
      tokens.push({ kind: 'option-terminator', index });
      for (; at < args.length; at++) tokens.push({ kind: 'positional', index: at, value: args[at]! });
    } else if (arg.startsWith('--')) {
      const equals = arg.indexOf('=', 3);
      const name = arg.slice(2, equals === -1 ? undefined : equals);
      option(name, `--${name}`, equals === -1 ? undefined : arg.slice(equals + 1), index);
    } else if (arg.length > 1 && arg.startsWith('-')) letters(arg.slice(1), index);
    else tokens.push({ kind: 'positional', index, value: arg });
  }
  return tokens;
}
