import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { BASE_FOLDERS } from './base-folders.ts';
import type { ContentDigest, ContentDigests } from './content-digest.ts';
import { firstLineOf, interpretersOf } from './interpreters.ts';
import { isInside } from './real-path.ts';

/** Signs that separate a path from what is around it in a word: `--require=/x`, `A=/x:/y`, `file:///x`, and the words of a shell's text. */
const SEPARATORS = /[\s=:,;&|'"()<>`]+/;
/** Programs of the system, and files that change by themselves. */
const OF_SYSTEM = [...BASE_FOLDERS, '/proc', '/sys', '/dev'];

/** Where the words of a command may be looked up: relative paths from each of the folders, names on the PATH. */
interface Places {
  folders: readonly string[];
  path: string;
}

/**
 * Which files and folders the start of a command may execute: what its words name, and what the first lines of these files name. This is
 * the one decision of approvals, plan tokens and trust. It takes rather too much: a word that is only data counts as well.
 */
export function startedBy(
  words: readonly string[],
  places: Places,
  programs: readonly string[] = [],
): { files: string[]; folders: string[] } {
  const files = new Set<string>();
  const folders = new Set<string>();
  const pending = [...pathsNamedBy(words, places.folders), ...programs];
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    const kind = kindOf(path);
    if (kind === 'folder') folders.add(path);
    if (kind !== 'file' || files.has(path)) continue;
    files.add(path);
    const named = [...(firstLineOf(path) ?? []), ...interpretersOf(path, places.path).slice(1)];
    pending.push(...pathsNamedBy(named, places.folders));
  }
  return { files: [...files], folders: [...folders] };
}

/** The absolute paths that words may mean, whether they exist or not. */
export function pathsNamedBy(words: readonly string[], folders: readonly string[]): string[] {
  const paths = words.flatMap(piecesOf).flatMap((piece) => folders.map((folder) => resolve(folder, piece)));
  return [...new Set(paths)];
}

/** A word, what is behind a short option (`-I/x`), and what is between separators. */
function piecesOf(word: string): string[] {
  const parts = [...word.split(SEPARATORS), word.slice(word.indexOf('=') + 1)];
  const all = [word, ...parts, ...parts.flatMap((part) => /^-[A-Za-z](.+)$/s.exec(part)?.[1] ?? [])];
  return all.filter((piece) => piece !== '' && !piece.includes('\0'));
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Digests folders, and those to which links in them lead. Folders of the system are left out. Of a folder that holds one of `roots`, only the files
 * directly in it count: everything else in a project is no part of one command.
 */
export function* startedFolders(
  folders: readonly string[],
  { digests, roots }: { digests: ContentDigests; roots: readonly string[] },
): Generator<{ folder: string; found: ContentDigest; isPart: boolean }> {
  const held = roots.map((root) => realpathSync(root));
  const done: string[] = [];
  const queue = [...folders];
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    const real = realpathSync(folder);
    if (done.some((each) => isInside(real, each)) || OF_SYSTEM.some((each) => isInside(real, each))) continue;
    const isFlat = held.some((root) => isInside(root, real));
    const before = new Set(digests.linkedFolders);
    const found = digests.of(real, { isFlat });
    if (found === undefined) continue;
    if (!isFlat) done.push(real);
    yield { folder, found, isPart: digests.comparedBySize.includes(real) };
    queue.push(...[...digests.linkedFolders].filter((each) => !before.has(each)).sort());
  }
}
