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
 * What is in the folder of a run; undefined when a pack could not restore all of it: links, pipes and devices, names that are not
 * UTF-8, files of another user, folders that are closed to their owner, and more than `maxBytes`.
 */
export function scanRun(dir: string, maxBytes: number): ScannedRun | undefined {
  const scanned: ScannedRun = { folders: [], files: [], bytes: 0 };
  const isWhole = scanFolder('');
  return isWhole ? scanned : undefined;

  function scanFolder(folder: string): boolean {
    return readdirSync(join(dir, folder)).every((name) => {
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = lstatSync(join(dir, path), { throwIfNoEntry: false });
      if (stat === undefined || stat.uid !== USER || name.includes('\ufffd')) return false;
      if (stat.isDirectory()) {
        scanned.folders.push({ path, mode: stat.mode & 0o7777 });
        return (stat.mode & 0o700) === 0o700 && scanFolder(path);
      }
      scanned.files.push({ path, stat });
      scanned.bytes += stat.size;
      return (
        stat.isFile() && stat.nlink === 1 && scanned.files.length <= MAX_FILES && scanned.bytes <= maxBytes
      );
    });
  }
}
