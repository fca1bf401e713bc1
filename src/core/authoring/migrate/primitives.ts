import { resolve } from 'node:path';
import * as z from 'zod';
import { AcorError } from '../../../protocol/acor-error.ts';
import { inputSpec } from '../../../protocol/manifest-inputs.ts';
import { errorRule, outputSpec } from '../../../protocol/manifest-output.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from '../../../protocol/names.ts';
import { splitCommand } from '../../../util/shell-words.ts';
import { checkFile } from '../../config/check-file.ts';
import { refuse } from '../../config/problem.ts';
import { readYamlFile } from '../../config/yaml-file.ts';

const words = z.array(z.string());

const primitive = z.strictObject({
  name: z
    .string()
    .regex(TOOL_NAME, TOOL_NAME_RULE)
    .optional()
    .describe('The command of the wrapper; by default the words of the command that the call begins with.'),
  summary: z.string().min(1).optional().describe('What it does; by default the text of the help.'),
  call: words.describe('The arguments that every call has: the command, and what shapes its output.'),
  sample: words.default([]).describe('The arguments of the call that is recorded, as the tool takes them.'),
  inputs: z
    .array(z.union([z.string(), inputSpec]))
    .optional()
    .describe('The inputs: names of those in the help, or whole ones. By default all of the help.'),
  output: outputSpec
    .optional()
    .describe('The form of its output; by default what the recorded output shows.'),
  errors: z.array(errorRule).default([]).describe('Rules before those that the audit has found.'),
  exit_codes: z.record(z.string(), z.int().min(0).max(255)).default({}).describe('Further exit codes.'),
  effects: z.enum(['reads', 'writes', 'destroys']).optional().describe('By default what its help says.'),
  replaces: words.default([]).describe('The old calls, as words behind the program, that it replaces.'),
});

const primitivesFile = z.strictObject({
  version: z.literal(1),
  cwd: z.enum(['workspace', 'project']).optional().describe('Where the tools start.'),
  read: words.default([]).describe('Paths that the program reads besides its arguments.'),
  primitives: z.array(primitive).min(1),
});

/** One command of the wrapper, as its author declares it. */
export type Primitive = z.output<typeof primitive>;

/** What the author declares of a migration. */
export type Primitives = z.output<typeof primitivesFile>;

/** The declarations of a file, and those of `--call`: the words before `--` are fixed, those behind it are a sample. */
export async function readPrimitives(
  file: string | undefined,
  calls: readonly string[],
  cwd: string,
): Promise<Primitives> {
  const declared = file === undefined ? undefined : await fromFile(resolve(cwd, file));
  const named = calls.map((call) => {
    const split = splitCommand(call);
    if (split === undefined)
      throw new AcorError('E_USAGE', `a quote in --call is not closed: ${call}`, {
        hint: 'Close the quote.',
      });
    const end = split.indexOf('--');
    const [fixed, sample] = end === -1 ? [split, []] : [split.slice(0, end), split.slice(end + 1)];
    return primitive.parse({ call: fixed, sample });
  });
  return {
    version: 1,
    read: [],
    ...declared,
    primitives: [...(declared?.primitives ?? []), ...named],
  };
}

async function fromFile(path: string): Promise<Primitives> {
  const { data, problems } = checkFile(primitivesFile, await readYamlFile(path));
  refuse(problems);
  return data!;
}
