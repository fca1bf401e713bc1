import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** The code of the error for a pipe, a device, a folder or a socket where a file is expected; no system call has it. */
export const NOT_REGULAR = 'ENOTREG';

/** Opens a regular file. Throws `NOT_REGULAR` for anything else: to open or read a pipe would wait for ever, a device would never end. */
export function openRegular(path: string, flags: number = constants.O_RDONLY, mode?: number): number {
  const fd = openSync(path, flags | constants.O_NONBLOCK, mode);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notRegular(path);
}

/** Opens a regular file for reading and appending, and creates it when it does not exist. */
export function appendRegular(path: string, mode: number): number {
  return openRegular(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, mode);
}

/** The bytes of a regular file. */
export function readRegular(path: string): Buffer {
  const fd = openRegular(path);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function notRegular(path: string): Error {
  const message = `${path} is no regular file but a pipe, a device, a socket or a folder`;
  return Object.assign(new Error(message), { code: NOT_REGULAR });
}
