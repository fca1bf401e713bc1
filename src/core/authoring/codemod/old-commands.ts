import { dirname, join } from 'node:path';
import * as z from 'zod';
import { AcorError } from '../../../protocol/acor-error.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { sdkPaths } from '../../registry/own-files.ts';
import { callProgram } from '../adopt/call-program.ts';
import type { HelpPlace } from '../adopt/help-place.ts';
import type { CliSource } from './cli-source.ts';

const MARK = '\nacor-commands ';

const values = z.array(z.union([z.string(), z.number()])).nullable();

const optionShape = z.object({
  /** After how many of the words it is written; -1 is after all. */
  level: z.int(),
  name: z.string(),
  on: z.string().nullable(),
  off: z.string().nullable(),
  short: z.string().nullable(),
  type: z.enum(['string', 'number', 'boolean', 'count']),
  bare: z.boolean(),
  many: z.boolean(),
  choices: values,
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
  required: z.boolean(),
  summary: z.string(),
});

const positionalShape = z.object({
  name: z.string(),
  required: z.boolean(),
  many: z.boolean(),
  choices: values,
  type: z.enum(['string', 'number']),
  summary: z.string(),
});

const commandShape = z.object({
  words: z.array(z.string()),
  separator: z.string().default(' '),
  aliases: z.array(z.array(z.string())),
  summary: z.string(),
  hidden: z.boolean(),
  deprecated: z.boolean(),
  options: z.array(optionShape),
  positionals: z.array(positionalShape),
});

const programShape = z.object({
  library: z.enum(['commander', 'yargs', 'oclif']),
  name: z.string(),
  version: z.string(),
  summary: z.string(),
  commands: z.array(commandShape),
});

export type OldOption = z.output<typeof optionShape>;
export type OldPositional = z.output<typeof positionalShape>;
export type OldCommand = z.output<typeof commandShape>;
/** A command line as its library holds it. */
export type OldCommands = z.output<typeof programShape>;

/** Loads the definition of a program in the sandbox of `place`, whose program is the runtime. No command is performed. */
export async function readOldCommands(source: CliSource, place: HelpPlace): Promise<OldCommands> {
  const reader = join(sdkPaths().root, 'templates', 'codemod', 'read-commands.mjs');
  const oclif = source.oclif === null ? [] : ['--oclif', source.oclif];
  const called = await callProgram(
    { ...place, folders: [...place.folders, dirname(reader), ...source.folders] },
    [reader, source.file, ...oclif],
  );
  const at = called.stdout.lastIndexOf(MARK);
  const found =
    at < 0 ? undefined : programShape.safeParse(parsed(called.stdout.slice(at + MARK.length).trim()));
  if (found?.success && found.data.commands.length > 0) return found.data;
  const isClosed = /\bEACCES\b/.test(called.stderr);
  throw new AcorError('E_USAGE', `no commands of commander, yargs or oclif were found in ${source.file}`, {
    hint: isClosed
      ? `The user of the sandbox, who is never root, may not read it. Open it: ${shellCommand(['chmod', '-R', 'a+rX', source.root])}`
      : 'Name the file that parses the command line. It is loaded in a sandbox without network and input.',
    details: { stderr: called.stderr.slice(0, 2000), trouble: called.trouble, rc: called.rc },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
