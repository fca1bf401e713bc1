import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { errorCode } from '../../../util/error-code.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { refuseWritingOut } from '../../config/stay-inside.ts';
import type { PlannedFile } from './planned-file.ts';

/** The folder for the backups that ACOR makes in a project. */
const ASIDE = join('.acor', 'replaced');

/**
 * Executes the plan in order. Throws E_PERMISSION, before it writes anything, when a link leads a file out of the project, also with
 * `dryRun`, which writes nothing. Throws E_STORAGE or E_DISK_FULL with the files written so far in its details; a second call continues from there.
 */
export function writeFiles(
  files: readonly PlannedFile[],
  root: string,
  { trust, dryRun = false }: Partial<Pick<LoadedConfig, 'trust'>> & { dryRun?: boolean } = {},
): void {
  for (const file of files) checkPlace(file, { root, ...(trust && { trust }) });
  if (dryRun) return;
  const written: string[] = [];
  for (const file of files) {
    try {
      if (writeOne(file, root)) written.push(relative(root, file.path));
    } catch (error) {
      throw cannotWrite(file.path, error, written);
    }
  }
}

function checkPlace(
  { path, action }: PlannedFile,
  project: Pick<LoadedConfig, 'root'> & Partial<Pick<LoadedConfig, 'trust'>>,
): void {
  if (['keep', 'unchanged', 'could_not'].includes(action)) return;
  const isPutAside = action === 'move' || action === 'replace';
  try {
    refuseWritingOut(path, project);
    if (isPutAside) refuseWritingOut(asideOf(path, project.root), project);
  } catch (error) {
    if (error instanceof AcorError) throw error;
    throw cannotWrite(path, error, []);
  }
}

function writeOne({ path, action, text, mode }: PlannedFile, root: string): boolean {
  switch (action) {
    case 'keep':
    case 'unchanged':
    case 'could_not':
      return false;
    case 'move':
      putAside(path, root);
      return true;
    case 'remove':
      rmSync(path);
      removeEmptyFolders(dirname(path), root);
      return true;
    case 'create':
      mkdirSync(dirname(path), { recursive: true });
      // Another process may have created the file since it was planned.
      writeFileSync(path, text!, { flag: 'wx', mode: mode ?? 0o644 });
      return true;
    case 'replace':
      putAside(path, root);
      writeFileSync(path, text!, { flag: 'wx', mode: mode ?? 0o644 });
      return true;
    case 'merge':
    case 'change':
      writeAtomic(path, text!, { mode: statSync(path).mode & 0o777 });
      return true;
  }
}

/** Removes a folder and those above it, as far as they are empty and below the root. */
function removeEmptyFolders(folder: string, root: string): void {
  if (folder === root || !folder.startsWith(`${root}${sep}`)) return;
  try {
    rmdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOTEMPTY') return;
    throw error;
  }
  removeEmptyFolders(dirname(folder), root);
}

function putAside(path: string, root: string): void {
  const wanted = asideOf(path, root);
  let target = wanted;
  for (let number = 1; existsSync(target); number++) target = `${wanted}.${number}`;
  mkdirSync(dirname(target), { recursive: true });
  renameSync(path, target);
}

function asideOf(path: string, root: string): string {
  return join(root, ASIDE, relative(root, path));
}

function cannotWrite(path: string, error: unknown, written: string[]): AcorError {
  const code = errorCode(error);
  // Do not report a fault of ACOR as a fault of the disk.
  if (code === undefined) throw error;
  const folder = nearestFolder(dirname(path));
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const hint = isFull
    ? 'Free space on its disk, then run it again: it continues from there.'
    : code === 'EEXIST' || code === 'ENOTDIR'
      ? 'Something else is in its place; move it away, then run it again.'
      : `Choose a folder that may be written to, or make this one so: ${shellCommand(['chmod', 'u+w', folder])}`;
  return new AcorError(isFull ? 'E_DISK_FULL' : 'E_STORAGE', `cannot write ${path} (${code})`, {
    hint,
    details: { path, code, written },
    cause: error,
  });
}

function nearestFolder(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path));
}
