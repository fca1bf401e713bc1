import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { isProgram } from '../../registry/find-program.ts';
import { fieldsOf } from './printed.ts';
import { sourceLanguageOf } from './read-sources.ts';

/** What is audited: a program that is run, sources that are read, or both. */
export interface Target {
  name: string;
  /** A name on the PATH, or a path. */
  program: string | null;
  /** A file or a folder. */
  sources: string | null;
  /** The file that a finding belongs to, relative to the caller's folder where it is below it. */
  uri: string;
}

/** Finds what a word names. Throws E_USAGE where it is neither a program, nor a source, nor a folder with one of them. */
export function targetOf(word: string, cwd: string): Target {
  const path = resolve(cwd, word);
  const isNamed = !word.includes('/') && !(existsSync(path) && sourceLanguageOf(path) !== undefined);
  if (isNamed && !(existsSync(path) && statSync(path).isDirectory()))
    return { name: word, program: word, sources: null, uri: word };
  if (!existsSync(path)) {
    throw new AcorError('E_INPUT_NOT_FOUND', `'${word}' does not exist`, {
      hint: 'Name a program on the PATH, or the path of a program, a source file or a folder.',
    });
  }
  if (statSync(path).isDirectory()) return folderOf(word, path, cwd);
  const uri = shownPath(path, cwd);
  const sources = sourceLanguageOf(path) === undefined ? null : path;
  if (isProgram(path)) return { name: word, program: path, sources, uri };
  if (sources !== null) return { name: word, program: null, sources, uri };
  throw new AcorError('E_USAGE', `'${word}' is no program and no source that ACOR reads`, {
    hint: 'Make it executable, or name a file in TypeScript, JavaScript, Python, Go or Rust.',
  });
}

/** A package, by the one program of its `bin`, or a folder with sources. */
function folderOf(word: string, path: string, cwd: string): Target {
  const programs = programsOf(path);
  const uri = shownPath(path, cwd);
  if (programs.length <= 1) return { name: word, program: programs[0] ?? null, sources: path, uri };
  throw new AcorError('E_USAGE', `'${word}' has several programs`, {
    hint: `Name one of them: ${programs.map((each) => shownPath(each, cwd)).join(', ')}`,
  });
}

function programsOf(folder: string): string[] {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return [];
  const bin = fieldsOf(parsed(readFileSync(file, 'utf8')))?.['bin'];
  const paths = typeof bin === 'string' ? [bin] : Object.values(fieldsOf(bin) ?? {});
  return [
    ...new Set(paths.filter((each) => typeof each === 'string').map((each) => join(folder, each))),
  ].filter(isProgram);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near.startsWith('..') ? path : near === '' ? '.' : near;
}

/** The files that say which folder a program belongs to. */
const PACKAGES = ['package.json', 'pyproject.toml'];

/**
 * The folder of the package that a program is a part of, whose other files it needs: of a workspace the outer one, which has
 * the dependencies. A program of the system has none.
 */
export function packageOf(program: string): string | undefined {
  let outermost: string | undefined;
  for (let folder = dirname(realpathSync(program)); folder !== dirname(folder); folder = dirname(folder)) {
    if (/^\/(?:usr|bin|lib|opt)\b/.test(folder)) return undefined;
    if (folder === homedir()) break;
    if (PACKAGES.some((name) => existsSync(join(folder, name)))) outermost = folder;
  }
  return outermost;
}
