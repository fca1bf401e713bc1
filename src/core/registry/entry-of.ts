import { extname, join } from 'node:path';
import { isInside } from '../../util/real-path.ts';
import { type Problem, problemOf } from '../config/problem.ts';
import type { Candidate } from './candidate.ts';
import { interpreterOf } from './languages/executable.ts';
import type { EntryFile, Language } from './languages/language.ts';
import type { ReadManifest } from './read-manifest.ts';
import type { ToolEntry } from './tool-entry.ts';
import type { WatchedFiles } from './watched-files.ts';

/** The entry file; null when there is none; a problem when it is not usable. */
export function entryOf(
  { path, kind, languages }: Candidate,
  dir: string,
  read: ReadManifest | undefined,
  files: WatchedFiles,
): string | null | Problem {
  const named = read?.entry;
  if (named === undefined && kind === 'file') return path;
  const found = named === undefined ? findEntries(dir, files, languages) : [named];
  if (found.length === 0) return notExecutable(dir, files);
  if (found.length > 1) {
    return problemOf(
      dir,
      'two-entries',
      `the folder contains ${found.join(' and ')}; each could be the entry`,
      `Choose one in the manifest: entry: ${found[0]}`,
    );
  }
  const problemAt =
    named === undefined
      ? (_key: string, rule: string, message: string, fix: string) =>
          problemOf(join(dir, found[0]!), rule, message, fix)
      : read!.problemAt;
  if (files.entryIn(dir, found[0]!)?.isFile()) return join(dir, found[0]!);
  const file = join(dir, found[0]!);
  const real = files.realPath(file, dir);
  if (real !== undefined && !isInside(real.path, dir)) {
    const where = isInside(file, dir) ? `a link to ${real.path}` : file;
    return problemAt(
      'entry',
      'entry-outside',
      `the entry '${found[0]}' is ${where}, outside the tool's folder`,
      `Put the file into ${dir}.`,
    );
  }
  if (!real?.stats?.isFile()) {
    return problemAt(
      'entry',
      'entry-missing',
      `the entry '${found[0]}' is not a file in ${dir}`,
      'Create it, or set a different entry.',
    );
  }
  return real.path;
}

/** A file with the name of an entry that is neither executable nor in a known language; null if no file is. */
function notExecutable(dir: string, files: WatchedFiles): Problem | null {
  const name = (files.list(dir) ?? [])
    .filter((entry) => entry.isFile() && STEMS.some((stem) => isEntry(entry.name, stem)))
    .map((entry) => entry.name)
    .find((each) => isScript(each) || files.shebang(join(dir, each)) !== null);
  if (name === undefined) return null;
  const path = join(dir, name);
  return problemOf(
    path,
    'not-executable',
    'the file is not executable, and its extension names no language that ACOR knows',
    `Make it executable: chmod +x '${path}'. Its first line must name its interpreter, such as #!/usr/bin/env ruby.`,
  );
}

/** Programs in languages that only a `#!` line starts. Any other extension may be that of data. */
function isScript(name: string): boolean {
  return ['', '.rb', '.pl', '.php', '.lua', '.r', '.jl', '.tcl', '.awk', '.ps1'].includes(
    extname(name).toLowerCase(),
  );
}

/** The language of a tool with an entry, or a problem when the language is unknown. */
export async function setLanguage(tool: ToolEntry, candidate: Candidate, files: WatchedFiles): Promise<void> {
  const said = tool.manifest.language ?? candidate.language;
  const language = said ?? (await detectLanguage(tool.entry!, files, candidate.languages));
  if (language !== undefined) {
    tool.language = language;
    return;
  }
  tool.problems.push(
    problemOf(
      tool.entry!,
      'language',
      `the language of ${tool.entry} is unknown`,
      `Give it a known extension or the mode bit x (chmod +x '${tool.entry}'), or set 'language' in the manifest.`,
    ),
  );
}

/** A manifest that names no program. */
export function noEntry(manifestPath: string, dir: string): Problem {
  return problemOf(
    manifestPath,
    'no-entry',
    `the manifest has neither 'entry' nor 'command', and ${dir} contains no cli.* or main.*`,
    "Add 'entry' or 'command', or put the program into the folder.",
  );
}

/** Possible names of an entry, the preferred one first. */
const STEMS = ['cli', 'main'];

/** The files of a folder that could be its entry (contract §6): `cli.*`, else `main.*`. More than one is a problem. */
function findEntries(dir: string, files: WatchedFiles, languages: readonly Language[]): string[] {
  const names = (files.list(dir) ?? []).filter((entry) => !entry.isDirectory()).map((entry) => entry.name);
  for (const stem of STEMS) {
    const candidates = names.filter((name) => isEntry(name, stem));
    const found = candidates.filter(
      (name) => byExtension(name, languages) || files.isExecutable(join(dir, name)),
    );
    if (found.length > 0) return found;
  }
  return [];
}

/** The language of an entry, or undefined. The extension takes precedence over the first line. */
async function detectLanguage(
  path: string,
  files: WatchedFiles,
  languages: readonly Language[],
): Promise<string | undefined> {
  const known = byExtension(path, languages);
  if (known !== undefined) return known.name;
  const shebang = files.shebang(path);
  const file: EntryFile = {
    path,
    extension: extname(path).toLowerCase(),
    executable: files.isExecutable(path),
    interpreter: shebang && interpreterOf(shebang),
  };
  for (const language of languages) {
    if (await language.detect(file)) return language.name;
  }
  return undefined;
}

function byExtension(name: string, languages: readonly Language[]): Language | undefined {
  const extension = extname(name).toLowerCase();
  return extension === '' ? undefined : languages.find((language) => language.extensions.includes(extension));
}

function isEntry(name: string, stem: string): boolean {
  return name === stem || (name.startsWith(`${stem}.`) && !name.slice(stem.length + 1).includes('.'));
}
