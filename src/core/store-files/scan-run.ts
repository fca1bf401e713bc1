import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** A run with more files stays a folder: the table of a pack is read as a whole. */
const MAX_FILES = 2_000;
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
  scanFolder('');
  return scanned;

  function scanFolder(folder: string): void {
    for (const name of readdirSync(join(dir, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = lstatSync(join(dir, path));
      refuse(stat.uid !== USER, path, 'belongs to another user');
      refuse(name.includes('\ufffd'), path, 'has a name that is not UTF-8');
      if (stat.isDirectory()) {
        refuse((stat.mode & 0o700) !== 0o700, path, 'is closed to its owner');
        scanned.folders.push({ path, mode: stat.mode & 0o7777 });
        scanFolder(path);
        continue;
      }
      refuse(!stat.isFile(), path, 'is a link, a pipe or a device');
      refuse(stat.nlink !== 1, path, 'is a hard link');
      scanned.files.push({ path, stat });
      scanned.bytes += stat.size;
      if (scanned.files.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
      if (scanned.bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    }
  }
}

function refuse(isSo: boolean, path: string, why: string): void {
  if (isSo) throw new Error(`${path} ${why}`);
}
