import { chownSync, closeSync, constants, fstatSync, openSync, readdirSync, type Stats } from 'node:fs';
import { errorCode } from '../../../util/error-code.ts';

/** Only names the object; Node has no name for it. */
const O_PATH = 0o10000000;

/** An entry of a folder, opened before it is looked at, so that what is changed is what was looked at. */
export type Visit = (entry: OpenEntry) => void;

export interface OpenEntry {
  path: string;
  stats: Stats;
  chown(uid: number, gid: number): void;
}

/**
 * Visits a file or folder, and with `isDeep` all that is below it, without ever following a link: a process that may write there could
 * put one in the place of a folder at any moment, and this runs as root. What vanishes on the way is passed over.
 */
export function visitTree(
  path: string,
  options: { isDeep: boolean; skip?(path: string): boolean },
  visit: Visit,
): void {
  visitAt(path, path, options, visit);
}

function visitAt(
  reached: string,
  path: string,
  options: { isDeep: boolean; skip?(path: string): boolean },
  visit: Visit,
): void {
  if (options.skip?.(path)) return;
  const fd = open(reached);
  if (fd === undefined) return;
  try {
    const stats = fstatSync(fd);
    if (stats.isSymbolicLink()) return;
    const own = `/proc/self/fd/${fd}`;
    visit({ path, stats, chown: (uid, gid) => chownSync(own, uid, gid) });
    if (!stats.isDirectory() || !options.isDeep) return;
    for (const name of readdirSync(own)) visitAt(`${own}/${name}`, `${path}/${name}`, options, visit);
  } finally {
    closeSync(fd);
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
