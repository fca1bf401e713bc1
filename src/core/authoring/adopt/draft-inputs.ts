import { flagOf, INPUT_NAME, type InputType } from '../../../protocol/input-types.ts';
import type { FoundCommand, FoundOption, FoundPositional, ReadHelp } from './help-shape.ts';
import { saysRepeats } from './repeats.ts';
import { valueTypeOf } from './value-type.ts';
import { typeOfWord } from './value-words.ts';

/** An input of a draft in the manifest's keys, and what a person should check. */
export interface DraftInput {
  keys: Record<string, unknown>;
  doubts: string[];
  /** Where it was found, unless that is the help of the program. */
  source?: string;
}

/** The inputs drafted from the options of a help text. */
export interface DraftInputs {
  inputs: DraftInput[];
  /** Options that a manifest cannot express, each with the reason. */
  leftOut: string[];
}

const FLAG = /^--?[A-Za-z0-9][A-Za-z0-9_.-]*$/;
/** `-h` behind the name of a tool shows its help. */
const SHORT = /^-[A-Za-gi-z0-9]$/;
const LISTS = /^(?:list|strings|stringArray|stringSlice|stringToString|ints|intSlice|array)$/;
const WRITES =
  /(?:^|[-_ ])(?:out|output|outfile|dest|destination|target|dump)|output|(?:^|[-_ ])log(?:[-_ ]?file)?$/i;
const HIDDEN = /(?:^|[-_])(?:password|passwd|passphrase|secret|token|api[-_]?key)$/i;
const MAX_TEXT = 400;

/** Drafts the inputs of a manifest from a help text. */
export function draftInputs({ options, positionals, commands }: ReadHelp): DraftInputs {
  const draft: DraftInputs = { inputs: [], leftOut: [] };
  const names = new Names(options.flatMap(({ spellings, negations }) => [...spellings, ...negations]));
  for (const option of options) {
    if (isHelp(option)) continue;
    addOption(option, draft, names);
    for (const negation of option.negations) {
      const text = `The opposite of ${option.spellings.at(-1)}.`;
      addOption({ ...option, spellings: [negation], negations: [], value: null, text }, draft, names);
    }
  }
  const operands =
    commands.length > 0 ? commandOperands(commands, names) : positionalsOf(positionals, names, draft);
  draft.inputs.push(...operands);
  return draft;
}

/** `acor describe` replaces these options. */
function isHelp({ spellings }: FoundOption): boolean {
  return (
    spellings.includes('--help') ||
    spellings.includes('-help') ||
    (spellings.length === 1 && spellings[0] === '-h')
  );
}

/** What click and others write behind the help of an option. */
const REQUIRED = /\s*(?:\[(?:.*; )?required\]|\(required\))$/i;

function addOption(option: FoundOption, { inputs, leftOut }: DraftInputs, names: Names): void {
  const flag =
    option.spellings.find((each) => /^--/.test(each) && FLAG.test(each)) ??
    option.spellings.find((each) => FLAG.test(each));
  if (flag === undefined) {
    leftOut.push(`${option.spellings.join(', ')}: not the spelling of a flag`);
    return;
  }
  const { value } = option;
  const text = option.text.replace(REQUIRED, '');
  const isRequired = option.isRequired || text !== option.text;
  const count = value === null ? 0 : valuesOf(value.name);
  if (count > 1) {
    leftOut.push(`${flag} ${value!.name}: takes ${count} values`);
    return;
  }
  const { type, doubts, ...found } = valueTypeOf(option);
  // `-c` has no spelling with which it could be switched off.
  if (type === 'bool' && flag.length === 2) delete found.default;
  const name = names.forFlag(flag);
  const canRepeat = option.repeats || saysRepeats(text) || (value !== null && LISTS.test(value.name));
  const multiple = canRepeat && type !== 'bool';
  if (canRepeat && type === 'bool')
    doubts.push('the program accepts it several times; this input accepts it once');
  if (/\s\[/.test(value?.name ?? '')) doubts.push('the program accepts more values; this input takes one');
  if (value?.isOptional) doubts.push('the value is optional for the program; here it is required');
  if (found.default !== undefined)
    doubts.push('this default is passed in every call; without it, the program uses its own');
  if (option.isValueUnknown)
    doubts.push('the source does not say whether it takes a value; here it is a switch');
  const short = option.spellings.find((each) => SHORT.test(each));
  const isShortFree = short !== undefined && names.takes(short);
  const isSwitchedOff = type === 'bool' && found.default === true;
  const keys: Record<string, unknown> = {
    name,
    ...(type !== 'string' && { type }),
    ...(isRequired && { required: true }),
    ...(flag !== flagOf({ name }) && { flag }),
    ...(isShortFree && short !== flag && { short }),
    ...((value?.isJoined || (isSwitchedOff && option.negations.length === 0)) && { joined: true }),
    ...(multiple && { multiple: true }),
    ...(found.enum && { enum: found.enum }),
    ...(found.default !== undefined && { default: multiple ? [found.default] : found.default }),
    ...accessOf(type, [name, value?.name ?? ''], text, doubts),
    ...(HIDDEN.test(name) && type === 'string' && { secret: true }),
    ...(text !== '' && { description: shortened(text) }),
  };
  inputs.push({ keys, doubts, ...(option.source !== undefined && { source: option.source }) });
}

/** A program with subcommands takes the name of one, followed by its operands. */
function commandOperands(commands: readonly FoundCommand[], names: Names): DraftInput[] {
  return [
    {
      keys: {
        name: names.forWord('command'),
        positional: true,
        enum: commands.map(({ name }) => name),
        description: 'The subcommand.',
      },
      doubts: [
        'the help does not list the options of the subcommands: adopt one subcommand, or all with --recursive',
      ],
    },
    { keys: { name: names.forWord('operands'), positional: true, multiple: true }, doubts: [] },
  ];
}

/** The minimum number of values: words, in brackets or not. */
function valuesOf(name: string): number {
  const words = name.replace(/<[^>]*>|\{[^}]*\}|\([^)]*\)/g, 'x').replace(/\[[^\]]*\]/g, '');
  return words.split(' ').filter((word) => word !== '').length;
}

function positionalsOf(
  found: readonly FoundPositional[],
  names: Names,
  { leftOut }: DraftInputs,
): DraftInput[] {
  const drafts: DraftInput[] = [];
  let isOptional = false;
  for (const { name, repeats, isRequired, text } of found) {
    const last = drafts.at(-1);
    if (last?.keys['multiple'] === true) {
      // A list in a manifest takes all following words, and so does this operand.
      last.doubts.push(`${name} is its last value`);
      continue;
    }
    const doubts: string[] = [];
    // `+FORMAT` is a word with a literal sign, also where it is a number.
    const isSigned = name.startsWith('+');
    const type =
      (isSigned ? 'string' : typeOfWord(name)) ??
      (/\bfiles?\b|director|path/i.test(text) || /^(?:source|src|dest)$/i.test(name) ? 'path' : 'string');
    if (isRequired && isOptional) leftOut.push(`${name}: is taken for optional, since it follows what is`);
    const isNeeded: boolean = isRequired && !isOptional;
    isOptional ||= !isNeeded;
    const keys: Record<string, unknown> = {
      name: names.forWord(name),
      ...(type !== 'string' && { type }),
      ...(isNeeded && { required: true }),
      positional: true,
      ...(repeats && { multiple: true }),
      ...(isSigned && { pattern: '^\\+' }),
      ...accessOf(type, [name], text, doubts),
      ...(text !== '' && { description: shortened(text) }),
    };
    drafts.push({ keys, doubts });
  }
  return drafts;
}

function accessOf(
  type: InputType,
  names: readonly string[],
  text: string,
  doubts: string[],
): { access?: 'read' | 'write' } {
  if (type !== 'path') return {};
  const writes = names.some((name) => WRITES.test(name));
  if (writes) doubts.push('assumed to be a path that the program writes');
  else if (/\b(?:write|save|output|store|create|log)s?\b/i.test(text))
    doubts.push('set access: write if the program writes there');
  return { access: writes ? 'write' : 'read' };
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1).trimEnd()}…` : text;
}

/** Input names that stay unique however their flags are spelled. */
class Names {
  readonly #taken = new Set<string>();
  readonly #flags: ReadonlySet<string>;

  constructor(flags: readonly string[]) {
    this.#flags = new Set(flags);
  }

  forFlag(flag: string): string {
    return this.#free(flag.replace(/^-+/, ''), flag);
  }

  forWord(word: string): string {
    return this.#free(word, '');
  }

  /** Whether no other input has this spelling yet. */
  takes(short: string): boolean {
    if (this.#taken.has(short)) return false;
    this.#taken.add(short);
    return true;
  }

  #free(word: string, flag: string): string {
    const bare = word.replace(/[^A-Za-z0-9_-]+|-/g, '_').replace(/^_+|_+$/g, '');
    const name = INPUT_NAME.test(bare) ? bare : `option_${bare}`;
    for (let count = 1; ; count++) {
      const candidate = count === 1 ? name : `${name}_${count}`;
      // A name also implies the flag `--name`, so two inputs must not share it.
      const spelling = flagOf({ name: candidate });
      if (this.#taken.has(spelling) || (spelling !== flag && this.#flags.has(spelling))) continue;
      this.#taken.add(spelling);
      return candidate;
    }
  }
}

/** The same inputs, each with a description: what the help does not say, a person should. */
export function describedInputs({ inputs, leftOut }: DraftInputs): DraftInputs {
  return { inputs: inputs.map(withDescription), leftOut };
}

function withDescription(input: DraftInput): DraftInput {
  const { name, flag, positional, description } = input.keys;
  if (description !== undefined) return input;
  const spelling = flag ?? `--${String(name).replaceAll('_', '-')}`;
  return {
    ...input,
    keys: { ...input.keys, description: positional ? `The operand ${name}.` : `The option ${spelling}.` },
    doubts: [...input.doubts, 'the help says nothing about it'],
  };
}
