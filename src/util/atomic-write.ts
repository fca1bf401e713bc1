import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';

let counter = 0;
/** Tells this process from an earlier one with the same pid, whose temporary files a crash may have left. */
const PROCESS_MARK = Math.floor(Math.random() * 2 ** 32).toString(36);

/**
 * Replaces a file atomically: a reader sees the old bytes or the new ones, never a part. With `durable`, the file and
 * its folder are fsynced before the call returns.
 */
export function writeAtomic(
  path: string,
  content: string | Uint8Array,
  options: { durable?: boolean; mode?: number } = {},
): void {
  const temporary = `${path}.${process.pid}-${PROCESS_MARK}-${counter++}.tmp`;
  const fd = openSync(temporary, 'wx', options.mode ?? 0o644);
  try {
    try {
      // The requested mode applies whatever the umask is.
      if (options.mode !== undefined) fchmodSync(fd, options.mode);
      writeFully(fd, typeof content === 'string' ? Buffer.from(content) : content);
      if (options.durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (options.durable) syncFolder(dirname(path));
}

/**
 * Creates a file whose name alone matters. On a full disk it is created empty, because there is mostly still room for a
 * name.
 */
export function writeEvenOnFullDisk(path: string, text: string): void {
  try {
    writeAtomic(path, text, { mode: 0o644 });
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC' && errorCode(error) !== 'EDQUOT') throw error;
    writeAtomic(path, '', { mode: 0o644 });
  }
}

/** Writes all bytes: a write to a nearly full disk may write only a part without an error. */
export function writeFully(fd: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written, bytes.length - written);
}

/** Fsyncs a folder, which makes the names in it durable. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
