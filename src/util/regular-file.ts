import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { errorCode } from './error-code.ts';

/** The code of the error for a pipe, a device, a folder or a socket where a file is expected; no system call has it. */
export const NOT_REGULAR = 'ENOTREG';

/** Opens a regular file. Throws `NOT_REGULAR` for anything else: to open or read a pipe would wait for ever, a device would never end. */
export function openRegular(path: string, flags: number = constants.O_RDONLY, mode?: number): number {
  const fd = openSync(path, flags | constants.O_NONBLOCK, mode);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notRegular(path);
}

/** The bytes of a regular file. */
export function readRegular(path: string): Buffer {
  return readAndClose(openRegular(path));
}

/**
 * Opens a file that ACOR has made. The store can come with a cloned project, and ACOR makes no links in it: a link would lead to a file of
 * the user. Throws `NOT_REGULAR` for a link in the last part of the path as well.
 */
export function openOwn(path: string, flags: number = constants.O_RDONLY, mode?: number): number {
  try {
    // Windows has no such flag.
    return openRegular(path, flags | (constants.O_NOFOLLOW ?? 0), mode);
  } catch (error) {
    throw errorCode(error) === 'ELOOP' ? isLink(path) : error;
  }
}

/** Opens an own file for reading and appending, and creates it when it does not exist. */
export function appendOwn(path: string, mode: number): number {
  return openOwn(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, mode);
}

/** The bytes of an own file. */
export function readOwn(path: string): Buffer {
  return readAndClose(openOwn(path));
}

/** The text of an own file that no other user can have written. Throws for one of another user, and for one that the group or others may write. */
export function readPrivate(path: string): string {
  const fd = openOwn(path);
  try {
    // Windows has no users of this kind.
    const user = process.getuid?.();
    const { uid, mode } = fstatSync(fd);
    if (user !== undefined && (uid !== user || mode & 0o022))
      throw new Error(`${path} may have been written by another user`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** Throws `NOT_REGULAR` when a part of a path below a folder is a link. */
export function refuseLinks(folder: string, path: string): void {
  let at = folder;
  for (const part of path.split(sep)) {
    at = join(at, part);
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) throw isLink(at);
  }
}

export function notRegular(path: string): Error {
  const message = `${path} is no regular file but a pipe, a device, a socket or a folder`;
  return Object.assign(new Error(message), { code: NOT_REGULAR });
}

function isLink(path: string): Error {
  return Object.assign(new Error(`${path} is a link, which ACOR does not follow`), {
    code: NOT_REGULAR,
    path,
  });
}

function readAndClose(fd: number): Buffer {
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
