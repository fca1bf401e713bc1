import { refuseArguments, usageProblem } from './argument-problem.ts';
import { commandWords } from './command-words.ts';
import { grantInputs } from './grant-inputs.ts';
import { inputsOf } from './input-schema.ts';
import { type Grant, type GrantRules, grantExisting, type StagedOutput } from './path-grants.ts';
import { givenValue, type ReadInput, readInputs } from './read-inputs.ts';
import type { ToolEntry } from './tool-entry.ts';
import { usageLine } from './usage-line.ts';

export type { Grant, StagedOutput } from './path-grants.ts';
export { grantRoots } from './path-grants.ts';

/** The arguments as the tool gets them, and what they grant. */
export interface ResolvedArguments {
  args: string[];
  /** Which of `args` hold the value of a secret input, by index. */
  secretArgs: number[];
  /** The values of secret inputs, as the tool gets them. */
  secretInputs: { name: string; text: string }[];
  /** By input; the value of a secret one is `[secret]`, a path is the real one. */
  values: Record<string, unknown>;
  grants: Grant[];
  staged: StagedOutput[];
}

export interface ResolveOptions extends GrantRules {
  readStdin?: () => string;
}

/**
 * Checks the arguments of a tool and turns its paths into grants (contract §5). Reads the file system and changes
 * nothing. Throws E_USAGE, E_INPUT_NOT_FOUND or E_PERMISSION with all that is wrong.
 */
export function resolveArguments(
  tool: ToolEntry,
  given: readonly string[],
  options: ResolveOptions,
): ResolvedArguments {
  const specs = inputsOf(tool.manifest);
  if (specs === undefined)
    return { ...passThrough(tool, given, options), secretArgs: [], secretInputs: [], values: {}, staged: [] };
  const usage = usageLine(tool.name, specs);
  const values = readInputs(specs, given, options);
  refuseArguments(tool.name, values.problems, usage);
  const granted = grantInputs(values.read, options);
  refuseArguments(tool.name, granted.problems, usage);
  const { args, secretArgs } = commandWords(granted.read);
  return {
    args,
    secretArgs,
    secretInputs: granted.read.flatMap(({ spec, values: all }) =>
      isHidden(spec) ? all.map(({ text }) => ({ name: spec.name, text })) : [],
    ),
    values: Object.fromEntries(granted.read.map((input) => [input.spec.name, shownValue(input)])),
    grants: granted.grants,
    staged: granted.staged,
  };
}

/** A path or a yes is no text that could be recognised as a secret. */
function isHidden({ secret, type }: ReadInput['spec']): boolean {
  return secret && type !== 'path' && type !== 'bool';
}

function shownValue(input: ReadInput): unknown {
  return input.spec.secret ? '[secret]' : givenValue(input);
}

/**
 * The arguments of a tool that declares none (contract §5): as they are, but what names an existing path under the
 * roots is made absolute and granted for reading.
 */
function passThrough(
  tool: { name: string },
  given: readonly string[],
  rules: GrantRules,
): { args: string[]; grants: Grant[] } {
  const grants: Grant[] = [];
  const grant = (text: string, index: number): string => {
    const found = grantExisting(text, `#${index + 1}`, rules);
    if (found) grants.push(found);
    return found?.path ?? text;
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
      : [],
  );
  refuseArguments(tool.name, problems, usageLine(tool.name, undefined));
  return { args, grants };
}
