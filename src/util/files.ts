import { chmodSync, lstatSync, mkdirSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { errorCode } from './error-code.ts';

/** Whether a path is a regular file, following links; false when it cannot be read. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Makes a folder that only this user may enter, whatever the umask is. One that an earlier build left open to others is closed. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stats = lstatSync(path);
  if (stats.isDirectory() && (stats.mode & 0o777) !== 0o700) chmodSync(path, 0o700);
}

/** Linux: the major number of the memory devices. */
const MEMORY_DEVICES = 1;

/** Whether it is a memory device of Linux, such as /dev/null. A terminal has another major number. */
export function isMemoryDevice(stats: Stats): boolean {
  return process.platform === 'linux' && stats.isCharacterDevice() && stats.rdev >> 8 === MEMORY_DEVICES;
}

/** Removes a file that may not exist. `rmSync` would ask for the kind of the path first. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Removes a file that does no harm if it stays, as it does on a read-only disk. */
export function removeIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}
