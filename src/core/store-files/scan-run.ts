import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import { OpenFolder } from '../../util/open-folder.ts';
import { walkTree } from '../../util/walk-tree.ts';

/** A run with more of them stays a folder: the table of a pack is read as a whole. */
const MAX_ENTRIES = 2_000;
/** The system's limit on the path of a call, less the folder of the run. */
const MAX_PATH_BYTES = 3000;
const USER = process.geteuid?.();

/** What the folder of a run contains. Paths are relative to it. */
export interface ScannedRun {
  folders: { path: string; mode: number }[];
  files: { path: string; stat: Stats }[];
  bytes: number;
}

/**
 * What is in the folder of a run. Throws, with the reason, when a pack could not restore all of it: links, pipes and devices, names that
 * are not UTF-8, files of another user, folders that are closed to their owner, and more than `maxBytes`.
 */
export function scanRun(dir: string, maxBytes: number): ScannedRun {
  const scanned: ScannedRun = { folders: [], files: [], bytes: 0 };
  using folder = OpenFolder.trusted(dir);
  for (const step of walkTree(folder)) {
    if (step.kind === 'left') continue;
    const { name, stats: stat } = step;
    const path = step.path.slice(dir.length + 1);
    refuse(stat.uid !== USER, path, 'belongs to another user');
    refuse(!isUtf8(name), path, 'has a name that is not UTF-8');
    if (step.kind === 'folder') {
      refuse((stat.mode & 0o700) !== 0o700, path, 'is closed to its owner');
      scanned.folders.push({ path, mode: stat.mode & 0o7777 });
    } else {
      refuse(!stat.isFile(), path, 'is a link, a pipe or a device');
      refuse(stat.nlink !== 1, path, 'is a hard link');
      scanned.files.push({ path, stat });
      scanned.bytes += stat.size;
    }
    refuse(Buffer.byteLength(path) > MAX_PATH_BYTES, `${path.slice(0, 100)}…`, 'has too long a path');
    if (scanned.files.length + scanned.folders.length > MAX_ENTRIES)
      throw new Error(`it has more than ${MAX_ENTRIES} files and folders`);
    if (scanned.bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  }
  return scanned;
}

function refuse(isSo: boolean, path: string, why: string): void {
  if (isSo) throw new Error(`${path} ${why}`);
}
