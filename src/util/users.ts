import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { shellCommand } from './shell-words.ts';

/** The name of this process's user, found by uid: environment variables cannot be trusted for this. */
export function userName(): string {
  const uid = process.getuid?.();
  return uid === undefined ? (process.env['USERNAME'] ?? 'unknown') : nameOfUser(uid);
}

/** The name of a user, or its number. */
export function nameOfUser(uid: number): string {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const name = lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid))?.[0];
    return name || `uid ${uid}`;
  } catch {
    return `uid ${uid}`;
  }
}

/**
 * The name of the other user to whom a folder belongs that this user may not read; undefined for any other folder. No change of the mode
 * helps there: this user cannot make it.
 */
export function closedByOwner(folder: string): string | undefined {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return undefined;
  } catch {
    return otherOwnerOf(folder);
  }
}

/** The name of the user to whom a file belongs; undefined when that is this user, or cannot be found out. */
export function otherOwnerOf(path: string): string | undefined {
  try {
    const { uid } = statSync(path);
    return uid === process.getuid?.() ? undefined : nameOfUser(uid);
  } catch {
    return undefined;
  }
}

/** Whether one of the folders around a path belongs to this user, who then has a claim to what is in it. */
export function isWithinOwnFolder(path: string): boolean {
  const folder = dirname(path);
  if (folder === path) return false;
  return otherOwnerOf(folder) === undefined || isWithinOwnFolder(folder);
}

/** Whether a file is for a group of this user: its owner has let the group read it. */
export function isForOwnGroup(path: string): boolean {
  const { mode, gid } = statSync(path);
  return (mode & 0o040) !== 0 && (process.getgroups?.() ?? []).includes(gid);
}

/** The command by which that user lets this one have it. */
export function giveCommand(path: string): string {
  return shellCommand(['chown', '-R', userName().replace(/^uid /, ''), path]);
}
