import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';
import { errorCode } from './error-code.ts';

/** The kernel's own limit (ELOOP). */
const MAX_LINKS = 40;

/** A path with every symlink and `..` resolved, and what exists there. */
export interface RealPath {
  path: string;
  stats: Stats | undefined;
}

/**
 * Resolves a path as the kernel does: `..` after a symlink leaves the link's target. Parts that do not exist yet stay
 * as written. Throws the system's errors (ENOTDIR, EACCES, ELOOP …).
 */
export function realPathOf(path: string, cwd: string): RealPath {
  const absolute = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
  return realAtOnce(absolute) ?? realByParts(absolute);
}

/** The kernel's own answer, in four system calls. Undefined for a path that does not exist, and elsewhere than on Linux. */
function realAtOnce(path: string): RealPath | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const real = realpathSync.native(path);
    return { path: real, stats: lstatSync(real) };
  } catch {
    return undefined;
  }
}

function realByParts(absolute: string): RealPath {
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
      throw Object.assign(new Error(`too many symlinks in ${absolute}`), { code: 'ELOOP' });
    const target = readlinkSync(next);
    if (isAbsolute(target)) current = parse(target).root;
    pending.push(...segmentsOf(isAbsolute(target) ? target.slice(parse(target).root.length) : target));
    stats = lstatSync(current);
  }
  return { path: current, stats };
}

/** The same for a path that a caller wrote: one that the system cannot follow, such as one with too long a name, leads to nothing. */
export function givenPathOf(path: string, cwd: string): RealPath {
  try {
    return realPathOf(path, cwd);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return { path, stats: undefined };
  }
}

/** Whether a path is a folder or inside it. Both must be real paths. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The parts of a path without empty ones and `.`, last first. */
function segmentsOf(path: string): string[] {
  const parts = sep === '\\' ? path.split(/[\\/]/) : path.split('/');
  return parts.filter((part) => part !== '' && part !== '.').reverse();
}
