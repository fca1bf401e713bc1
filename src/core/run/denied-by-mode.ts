import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { shellCommand } from '../../util/shell-words.ts';

/** The owner and mode of a file or folder that deny it to the user of the run: no grant of ACOR changes that. */
export interface ModeDenial {
  why: string;
  fix: string;
}

const READ_BITS = 0o444;
const OWNER_WRITES = 0o200;
const PERMISSION_BITS = 0o7777;

/** Why the user of the run may not read an absolute path; undefined when its mode allows that, or nothing is there. */
export function deniedByMode(path: string): ModeDenial | undefined {
  for (const folder of foldersAbove(path))
    if (!isAllowed(folder, constants.X_OK)) return denialOf(folder, 'x');
  return isAllowed(path, constants.R_OK) ? undefined : denialOf(path, 'r');
}

/** Why a file at a path may not be written even by its owner; undefined when its mode allows that, or there is no file. */
export function writeDeniedByMode(path: string): ModeDenial | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined || (stats.mode & OWNER_WRITES) !== 0 ? undefined : denialOf(path, 'w');
}

/** From the outermost one. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersAbove(folder), folder];
}

function isAllowed(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    // Root may read a file without any of these bits, but the tool is not root.
    return access !== constants.R_OK || (statSync(path).mode & READ_BITS) !== 0;
  } catch (error) {
    return errorCode(error) !== 'EACCES';
  }
}

function denialOf(path: string, right: 'r' | 'w' | 'x'): ModeDenial {
  const { uid, mode } = statSync(path);
  const shown = (mode & PERMISSION_BITS).toString(8).padStart(3, '0');
  const own = process.getuid?.();
  if (uid === own)
    return { why: `${path} has the mode ${shown}`, fix: shellCommand(['chmod', `u+${right}`, path]) };
  return {
    why: `${path} has the mode ${shown}, and belongs to the user ${uid}, not to ${own}`,
    fix: `let its owner run ${shellCommand(['chmod', `o+${right}`, path])}, or give the tool a copy that you may read`,
  };
}
