import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';

/** The content of a path inside the sandbox: the same path of the machine, or an empty folder that hides it. */
export interface Mount {
  path: string;
  access: 'read' | 'write' | 'empty';
  /** Opened first and mounted by its descriptor, because other processes may change the path. */
  isGrant?: boolean;
  /** Mounted at the path in place of what is there. */
  from?: string;
}

/**
 * Decides what is mounted, outer paths first. Nothing is mounted below a folder that the tool may write: the tool could
 * have put a link there, which the mount would follow out of the sandbox (CVE-2026-87766). Such a path is part of the
 * outer grant.
 */
export function layMounts(wanted: readonly Mount[], realOf = realPaths()): Mount[] {
  const laid: Mount[] = [];
  for (const mount of sorted(wanted.flatMap((each) => atBothPaths(each, realOf)))) {
    const outer = enclosing(mount.path, laid);
    // Of two mounts of one path, the one with the larger right comes first.
    if (laid.some(({ path }) => path === mount.path)) continue;
    if (outer?.access === 'write') continue;
    if (mount.access === 'read' && outer?.access === 'read') continue;
    // A path that does not exist needs no hiding.
    if (mount.access === 'empty' && outer === undefined) continue;
    laid.push(mount);
  }
  return laid;
}

/** The innermost mount that contains a path. */
export function enclosing(path: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts.findLast((mount) => mount.path !== path && isBelow(path, mount.path));
}

/** Whether a path is below a folder; both are absolute. */
export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** The parent folders of a path, from the top, without the root. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) parents.unshift(folder);
  return parents;
}

/**
 * A path through a link is mounted at that path and at its real one, because a granted folder may contain the link. A grant has a real path:
 * a link in it has appeared since the check, and what it leads to was never checked.
 */
function atBothPaths(mount: Mount, realOf: RealOf): Mount[] {
  if (mount.isGrant) return [mount];
  const real = realOf(mount.path);
  return real === mount.path ? [mount] : [mount, { ...mount, path: real }];
}

/** Returns the path with every link resolved, or the path as it is when it does not exist. */
export type RealOf = (path: string) => string;

/** Resolves each path once, for a profile that asks for some of them many times. */
export function realPaths(): RealOf {
  const known = new Map<string, string>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const real = realOf(path);
    known.set(path, real);
    return real;
  };
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function sorted(mounts: readonly Mount[]): Mount[] {
  const strength = { empty: 0, read: 1, write: 2 };
  return [...mounts].sort((a, b) =>
    a.path === b.path ? strength[b.access] - strength[a.access] : a.path < b.path ? -1 : 1,
  );
}

/** The granted path changed between its check and the start. */
export function grantChanged(path: string, why: string): AcorError {
  return new AcorError('E_PERMISSION', `${path} changed after it was granted: ${why}`, {
    hint: 'Run the tool again; if it happens again, another process changes that path during the start.',
  });
}
