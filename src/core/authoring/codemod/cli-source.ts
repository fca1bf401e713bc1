import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { fieldsOf } from '../contract/printed.ts';

/** A command line in JavaScript or TypeScript. */
export interface CliSource {
  /** The file that starts it. */
  file: string;
  /** The folder of its package. */
  root: string;
  /** The folder of an oclif program; null for the other libraries. */
  oclif: string | null;
  /** What loading it reads. */
  folders: string[];
  version: string;
  summary: string;
}

/** Finds the command line that a path names: a file, or a folder by the `bin` of its package. */
export function cliSourceOf(path: string, cwd: string): CliSource {
  const given = resolve(cwd, path);
  if (!existsSync(given))
    throw new AcorError('E_INPUT_NOT_FOUND', `'${path}' does not exist`, {
      hint: 'Name the file that starts the command line, or the folder of its package.',
    });
  const real = realpathSync(given);
  const root = packageAbove(statSync(real).isDirectory() ? real : dirname(real));
  const fields = root === undefined ? undefined : fieldsOf(parsed(join(root, 'package.json')));
  const file = statSync(real).isDirectory() ? binOf(real, path, fields?.['bin']) : real;
  const folder = root ?? dirname(file);
  return {
    file,
    root: folder,
    oclif: fieldsOf(fields?.['oclif']) === undefined ? null : folder,
    folders: [folder, ...modulesAbove(folder)],
    version: textOf(fields?.['version']) || '0.0.0',
    summary: textOf(fields?.['description']),
  };
}

function binOf(folder: string, path: string, bin: unknown): string {
  const paths = [...new Set(typeof bin === 'string' ? [bin] : Object.values(fieldsOf(bin) ?? {}))];
  const files = paths.filter((each) => typeof each === 'string').map((each) => join(folder, each));
  const [only] = files;
  if (only !== undefined && files.length === 1 && existsSync(only)) return realpathSync(only);
  throw new AcorError('E_USAGE', `'${path}' has ${files.length} programs in the bin of its package.json`, {
    hint: 'Name the file that starts the command line.',
    details: { files },
  });
}

function packageAbove(start: string): string | undefined {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  return undefined;
}

/** The packages of a workspace are beside the folders above. */
function modulesAbove(start: string): string[] {
  const found: string[] = [];
  for (let folder = dirname(start); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'node_modules'))) found.push(join(folder, 'node_modules'));
  return found;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
