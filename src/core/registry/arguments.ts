import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { flagOf } from '../../protocol/input-types.ts';
import type { InputSpec } from '../../protocol/manifest.ts';
import { type ArgumentProblem, refuseArguments, usageLine, usageProblem } from './argument-problem.ts';
import { inputsOf } from './input-schema.ts';
import { type Grant, type GrantRules, grantExisting, grantPath, type StagedOutput } from './path-grants.ts';
import { givenValue, type ReadCall, type ReadInput, readToolInputs, slowValuesOf } from './read-inputs.ts';
import type { ToolEntry } from './tool-entry.ts';
import { grantInputs } from './tool-grants.ts';

/** The kernel of Linux takes no longer argument of a program: 128 KiB with the NUL byte at its end. */
const MAX_WORD_BYTES = (128 << 10) - 1;

export type { Grant, StagedOutput } from './path-grants.ts';
export { grantRoots, untrustedRoots } from './path-grants.ts';

/** The arguments that the tool gets, and the grants that they imply. */
export interface ResolvedArguments {
  args: string[];
  /** The indexes in `args` that contain a secret value. */
  secretArgs: number[];
  /** The values of secret inputs, as the tool gets them. */
  secretInputs: { name: string; text: string }[];
  /** Values by input. A secret one is `[secret]`; a path is a real path. */
  values: Record<string, unknown>;
  /** Values by input as the tool uses them: secrets in clear, paths as in its arguments. Null for a tool without declared inputs. */
  inputs: Record<string, unknown> | null;
  grants: Grant[];
  staged: StagedOutput[];
  /** The inputs as the caller gave them: secrets in clear, paths unresolved. */
  read: ReadInput[];
}

export interface ResolveOptions extends GrantRules {
  readStdin?: () => string;
  /** Whether `--input-json` may name a file; by default it may not. */
  readsFiles?: boolean;
}

/**
 * Resolves a tool's arguments, and checks their values against its `input_schema` and the patterns that take long. Throws what `resolveArguments` throws, and
 * E_MANIFEST_INVALID for a schema that cannot be used.
 */
export async function resolveCheckedArguments(
  tool: ToolEntry,
  given: readonly string[],
  options: ResolveOptions,
): Promise<ResolvedArguments> {
  const call = readCall(tool, given, options);
  const isChecked =
    call !== undefined && (tool.manifest.input_schema !== undefined || slowValuesOf(call.read).length > 0);
  if (!isChecked) return resolveCall(tool, given, call, options);
  const { problemsBySchema } = await import('./check-by-schema.ts');
  if (call.problems.length > 0)
    refuse(tool, [
      ...call.problems,
      ...(await problemsBySchema(tool, withoutWrong(call), { isWhole: false })),
    ]);
  const resolved = resolveCall(tool, given, call, options);
  refuse(tool, await problemsBySchema(tool, resolved.read));
  return resolved;
}

/** The inputs whose values could be read. */
function withoutWrong({ read, problems }: ReadCall): ReadInput[] {
  return read.filter(({ spec }) => problems.every(({ input }) => input !== spec.name));
}

/**
 * Validates a tool's arguments and turns path arguments into grants (contract §5). Reads the file system and changes
 * nothing. Throws E_USAGE, E_INPUT_NOT_FOUND or E_PERMISSION with all problems.
 */
export function resolveArguments(
  tool: ToolEntry,
  given: readonly string[],
  options: ResolveOptions,
): ResolvedArguments {
  return resolveCall(tool, given, readCall(tool, given, options), options);
}

function readCall(
  { manifest }: ToolEntry,
  given: readonly string[],
  { cwd, readStdin, readsFiles = false }: ResolveOptions,
): ReadCall | undefined {
  return readToolInputs(manifest, given, { cwd, readsFiles, ...(readStdin && { readStdin }) });
}

function refuse(tool: ToolEntry, problems: readonly ArgumentProblem[]): void {
  refuseArguments(
    tool.name,
    problems.map((each) => namingUnlisted(tool, each)),
    usageLine(tool.name, inputsOf(tool.manifest)),
  );
}

function resolveCall(
  tool: ToolEntry,
  given: readonly string[],
  values: ReadCall | undefined,
  options: ResolveOptions,
): ResolvedArguments {
  if (values === undefined)
    return {
      ...passThrough(tool, given, options),
      secretArgs: [],
      secretInputs: [],
      values: {},
      inputs: null,
      read: [],
    };
  refuse(tool, values.problems);
  const granted = grantInputs(values.read, options);
  refuse(tool, granted.problems);
  const extra = passThrough(tool, [...values.extra, ...values.behind], options);
  const { args, secretArgs } = commandWords(granted.read, {
    extra: extra.args.slice(0, values.extra.length),
    behind: extra.args.slice(values.extra.length),
  });
  refuse(tool, [...tooLongValues(granted.read), ...emptyJoinedValues(granted.read)]);
  return {
    args,
    secretArgs,
    secretInputs: granted.read.flatMap(({ spec, values: all }) =>
      isHidden(spec) ? all.map(({ text }) => ({ name: spec.name, text })) : [],
    ),
    values: Object.fromEntries(granted.read.map((input) => [input.spec.name, shownValue(input)])),
    inputs: Object.fromEntries(granted.read.map((input) => [input.spec.name, usedValue(input)])),
    grants: [...granted.grants, ...extra.grants],
    staged: [...granted.staged, ...extra.staged],
    read: values.read,
  };
}

/** A flag that the program has in its source, in quotes, is probably one that its manifest leaves out. */
function namingUnlisted({ entry, manifestPath }: ToolEntry, problem: ArgumentProblem): ArgumentProblem {
  const flag = /^--[a-z][a-z0-9_-]*$/.exec(problem.input)?.[0];
  if (problem.rule !== 'unknown-flag' || flag === undefined || entry === null || manifestPath === null)
    return problem;
  if (!contains(entry, [`"${flag}"`, `'${flag}'`])) return problem;
  const name = flag.slice(2).replaceAll('-', '_');
  return {
    ...problem,
    fix: `The program has ${flag}, and its manifest does not list it: in ${manifestPath}, add { name: ${name} } to inputs.`,
  };
}

function contains(file: string, texts: readonly string[]): boolean {
  try {
    const source = readFileSync(file, 'utf8');
    return texts.some((text) => source.includes(text));
  } catch {
    // Running the tool reports it.
    return false;
  }
}

function tooLongValues(inputs: readonly ReadInput[]): ArgumentProblem[] {
  return inputs.flatMap(({ spec, values }) => {
    const prefix = spec.joined && !spec.positional ? joinedWord(flagOf(spec), '') : '';
    const long = values.map(({ text }) => prefix + text).find(isTooLong);
    return long === undefined ? [] : tooLong(spec.name, `'${spec.name}'`, long);
  });
}

/** `-z` with an empty value is the flag alone: the tool would take the next argument as its value. */
function emptyJoinedValues(inputs: readonly ReadInput[]): ArgumentProblem[] {
  return inputs.flatMap(({ spec, values }) => {
    const flag = flagOf(spec);
    const isJoined = spec.joined && !spec.positional && spec.type !== 'bool' && flag.length === 2;
    if (!isJoined || values.every(({ text }) => text !== '')) return [];
    const why = `the tool gets ${flag} and the value as one word, and would take the next one for an empty value`;
    return usageProblem(
      spec.name,
      'empty',
      `'${spec.name}' is empty: ${why}`,
      'Leave it out, or give it a value.',
    );
  });
}

function isTooLong(word: string): boolean {
  return process.platform === 'linux' && Buffer.byteLength(word) > MAX_WORD_BYTES;
}

function tooLong(input: string, what: string, word: string): ArgumentProblem {
  const bytes = Buffer.byteLength(word);
  return usageProblem(
    input,
    'too-long',
    `${what} has ${bytes} bytes, and the system takes at most ${MAX_WORD_BYTES} in one argument`,
    'Pass a long value in a file.',
  );
}

/** A path or a boolean cannot be recognised in output as a secret. */
function isHidden({ secret, type }: ReadInput['spec']): boolean {
  return secret && type !== 'path' && type !== 'bool';
}

function usedValue({ spec, values }: ReadInput): unknown {
  const used = values.map(({ value, text }) => (spec.type === 'path' ? text : value));
  return spec.multiple ? used : used[0];
}

function shownValue(input: ReadInput): unknown {
  return input.spec.secret ? '[secret]' : givenValue(input);
}

/**
 * The arguments of a tool without declared inputs (contract §5): unchanged, except that the path of an existing file
 * under the roots becomes absolute and gets a read grant. In the caller's folder, a relative path stays as it is. An output
 * becomes the path of the staged file.
 */
function passThrough(
  tool: Pick<ToolEntry, 'name' | 'startsIn' | 'outputs'>,
  given: readonly string[],
  rules: GrantRules,
): { args: string[]; grants: Grant[]; staged: StagedOutput[] } {
  const grants: Grant[] = [];
  const staged = new Map<string, StagedOutput>();
  const refused: ArgumentProblem[] = [];
  const stage = (text: string, path: string): string => {
    const input = staged.size === 0 ? 'write' : `write_${staged.size + 1}`;
    const granted = grantPath({ name: input, access: 'write' }, text, rules);
    if ('rule' in granted) refused.push(granted);
    else if (granted.staged) staged.set(path, granted.staged);
    return 'rule' in granted ? text : granted.text;
  };
  const grant = (text: string, index: number): string => {
    const path = resolve(rules.cwd, text);
    if (tool.outputs?.includes(path)) return staged.get(path)?.staged ?? stage(text, path);
    const found = grantExisting(text, `#${index + 1}`, rules);
    if (found === undefined) return text;
    grants.push(found);
    return tool.startsIn === rules.cwd && path === found.path ? text : found.path;
  };
  const flagsEnd = given.indexOf('--');
  const args = given.map((word, index) => {
    if (!word.startsWith('-') || (flagsEnd >= 0 && index > flagsEnd)) return grant(word, index);
    const equals = word.indexOf('=');
    return equals < 0 ? word : word.slice(0, equals + 1) + grant(word.slice(equals + 1), index);
  });
  const problems = args.flatMap((word, index) =>
    word.includes('\0')
      ? usageProblem(`#${index + 1}`, 'nul', `argument ${index + 1} holds a NUL byte`, 'Leave it out.')
      : !word.isWellFormed()
        ? usageProblem(
            `#${index + 1}`,
            'utf-8',
            `argument ${index + 1} holds half of a surrogate pair, which is no character`,
            'Pass whole characters.',
          )
        : isTooLong(word)
          ? tooLong(`#${index + 1}`, `argument ${index + 1}`, word)
          : [],
  );
  refuseArguments(tool.name, [...refused, ...problems], usageLine(tool.name, undefined));
  return { args, grants, staged: [...staged.values()] };
}

/**
 * The tool's arguments: `--name value` pairs in the order of the manifest, then undeclared flags, then positionals, and the words behind them.
 * `secretArgs` are indexes.
 */
function commandWords(
  inputs: readonly ReadInput[],
  { extra, behind }: { extra: readonly string[]; behind: readonly string[] },
): { args: string[]; secretArgs: number[] } {
  const args: string[] = [];
  const secretArgs: number[] = [];
  const push = (spec: InputSpec, text: string) => {
    if (spec.secret) secretArgs.push(args.length);
    args.push(text);
  };
  const positionals = inputs.filter(({ spec }) => spec.positional);
  for (const { spec, values } of inputs) {
    if (spec.positional) continue;
    for (const { value, text } of values) {
      if (spec.type === 'bool') {
        args.push(...boolWords(spec, value === true));
      } else if (spec.joined) {
        push(spec, joinedWord(flagOf(spec), text));
      } else {
        args.push(flagOf(spec));
        push(spec, text);
      }
    }
  }
  args.push(...extra);
  // After `--`, the tool does not read a value such as -x as a flag.
  if (positionals.some(({ values }) => values.some(({ text }) => text.startsWith('-')))) args.push('--');
  for (const { spec, values } of positionals) for (const { text } of values) push(spec, text);
  args.push(...behind);
  return { args, secretArgs };
}

/** A tool assumes `false` by default, so `false` is only passed when the manifest's default is `true`. */
function boolWords(spec: InputSpec, value: boolean): string[] {
  if (value) return [flagOf(spec)];
  if (spec.default !== true) return [];
  return [spec.joined ? joinedWord(flagOf(spec), 'false') : `--no-${spec.name.replaceAll('_', '-')}`];
}

/** `--name=value` and `-name=value`, but `-nvalue` for a short flag. */
function joinedWord(flag: string, text: string): string {
  return flag.length === 2 ? `${flag}${text}` : `${flag}=${text}`;
}
