import { extname, join } from 'node:path';
import { interpreterOf } from './languages/executable.ts';
import type { EntryFile, Language } from './languages/language.ts';
import type { WatchedFiles } from './watched-files.ts';

/** The names that an entry may have, the first one winning. */
const STEMS = ['cli', 'main'];

/** The files of a folder that its layout makes its entry (contract §6): `cli.*`, else `main.*`. More than one is one too many. */
export function findEntries(dir: string, files: WatchedFiles, languages: readonly Language[]): string[] {
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

/** The language of an entry, or undefined when nothing tells it. An extension says more than the first line. */
export async function detectLanguage(
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
