import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';
import { FilePattern } from '../../util/file-pattern.ts';
import { newSha256 } from '../../util/sha256.ts';

/** Nothing below them is a source: what version control, package managers and ACOR itself write. */
const LEFT_OUT = new Set(['.git', '.hg', '.jj', '.runs', 'node_modules']);
/** Each folder needs a watch of the system, which has a limit for them. */
const MAX_FOLDERS = 5_000;

export interface WatchedState {
  /** Changes when a matching file is written, replaced, added or removed. */
  digest: string;
  /** The folders whose changes can change it. */
  folders: string[];
}

/** Throws E_USAGE for a pattern that can match nothing. */
export function checkPatterns(patterns: readonly string[]): void {
  for (const pattern of patterns) {
    if (/[{}]/.test(pattern.replace(/\{[^{}]*\}/g, '')))
      throw new AcorError('E_USAGE', `--on ${JSON.stringify(pattern)} has a brace without its other one`, {
        hint: "Close it: '*.{ts,js}'. Braces in braces are not read; give --on several times instead.",
      });
    if (pattern !== '' && !isAbsolute(pattern) && !pattern.split('/').includes('..')) continue;
    throw new AcorError('E_USAGE', `--on ${JSON.stringify(pattern)} names no files of the project`, {
      hint: "Write it relative to the project's folder: 'src/**/*.ts'",
    });
  }
}

/** The present state of the files that match. Links are not followed. Throws E_USAGE when that takes too many folders. */
export async function watchedState(root: string, patterns: readonly string[]): Promise<WatchedState> {
  const matchers = patterns.map(FilePattern.ofPaths);
  const lines: string[] = [];
  const queue = [...new Set(patterns.map(baseOf))];
  // A folder that does not exist yet is seen by the folder above it.
  const above = new Set(queue.flatMap(foldersAbove).map((each) => join(root, each)));
  const folders: string[] = [];
  const seen = new Set<string>();
  for (let below = queue.pop(); below !== undefined; below = queue.pop()) {
    if (seen.has(below)) continue;
    seen.add(below);
    const folder = join(root, below);
    folders.push(folder);
    if (folders.length > MAX_FOLDERS) throw tooMany(patterns);
    for (const entry of await entriesOf(folder)) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!LEFT_OUT.has(entry.name) && patterns.some((each) => each.includes('**') || reaches(each, path)))
          queue.push(path);
      } else if (matchers.some((each) => each.test(path))) {
        const stats = await lstat(join(root, path), { bigint: true }).catch(() => undefined);
        if (stats !== undefined) lines.push(`${path}\0${stats.size}\0${stats.mtimeNs}\0${stats.ino}\n`);
      }
    }
  }
  const digest = newSha256().update(lines.sort().join('')).digest('hex');
  return { digest, folders: [...new Set([...above, ...folders])] };
}

/** The folder above everything that a pattern can match. */
function baseOf(pattern: string): string {
  const parts = pattern.split('/');
  const wild = parts.findIndex((part) => /[*?{]/.test(part));
  return parts.slice(0, wild === -1 ? -1 : Math.min(wild, parts.length - 1)).join('/');
}

function foldersAbove(folder: string): string[] {
  const parts = folder === '' ? [] : folder.split('/');
  return parts.map((_, at) => parts.slice(0, at).join('/'));
}

/** Whether a pattern without `**` can match something below a folder. */
function reaches(pattern: string, folder: string): boolean {
  return pattern.split('/').length > folder.split('/').length;
}

/** A folder that does not exist yet, or not any more, has none. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}

function tooMany(patterns: readonly string[]): AcorError {
  const text = patterns.join(', ');
  return new AcorError('E_USAGE', `${text} concerns more than ${MAX_FOLDERS} folders`, {
    hint: "Begin the pattern with the folder that matters: 'src/**/*.ts'",
  });
}
