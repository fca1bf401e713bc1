import { chownSync, closeSync, constants, fstatSync, openSync, readdirSync, type Stats } from 'node:fs';
import { errorCode } from '../../../util/error-code.ts';

/** Linux's O_PATH: the descriptor only names the object. Node has no constant for it. */
const O_PATH = 0o10000000;

/** An entry of a folder, opened before it is inspected, so that the change applies to the inspected object. */
export type Visit = (entry: OpenEntry) => void;

export interface OpenEntry {
  path: string;
  stats: Stats;
  chown(uid: number, gid: number): void;
}

/**
 * Visits a file or folder, and with `isDeep` everything below it, without following links: this code runs as root, and
 * a process that may write there could replace a folder by a link at any moment. Entries that vanish during the walk
 * are skipped.
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
