import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';

/** What the kernel itself allows in one path. */
const MAX_LINKS = 40;

/** Where a path leads once every symlink and `..` is followed, and what is there. */
export interface RealPath {
  path: string;
  stats: Stats | undefined;
}

/**
 * Follows a path as the kernel does, so that `..` behind a symlink leaves the link's target. What does not exist yet
 * is taken as written. Throws the system's errors (ENOTDIR, EACCES, ELOOP …).
 */
export function realPathOf(path: string, cwd: string): RealPath {
  const absolute = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
  const { root } = parse(absolute);
  const pending = segmentsOf(absolute.slice(root.length));
  let current = root;
  let stats: Stats | undefined = lstatSync(current);
  let links = 0;
  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
    if (segment === '..') {
      current = dirname(current);
      stats = lstatSync(current, { throwIfNoEntry: false });
      continue;
    }
    const next = join(current, segment);
    stats = lstatSync(next, { throwIfNoEntry: false });
    if (!stats?.isSymbolicLink()) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS)
      throw Object.assign(new Error(`too many symlinks in ${path}`), { code: 'ELOOP' });
    const target = readlinkSync(next);
    if (isAbsolute(target)) current = parse(target).root;
    pending.push(...segmentsOf(isAbsolute(target) ? target.slice(parse(target).root.length) : target));
    stats = lstatSync(current);
  }
  return { path: current, stats };
}

/** Whether a path is a folder or lies below it. Both must be real. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The parts of a path that lead somewhere, last first. */
function segmentsOf(path: string): string[] {
  const parts = sep === '\\' ? path.split(/[\\/]/) : path.split('/');
  return parts.filter((part) => part !== '' && part !== '.').reverse();
}
