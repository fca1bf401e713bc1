import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { enclosing, isBelow, type Mount } from './mounts.ts';
import type { Profile } from './profile.ts';

/**
 * A profile as a list of what is allowed, for a mechanism that cannot take anything out of a folder: a folder that holds a hidden
 * one is taken apart into what lies beside that. What comes into such a folder later is not allowed.
 */
export function allowedPaths({ system, mounts }: Profile): { read: string[]; write: string[] } {
  const base = system.filter(({ link }) => link === null).map(({ path }) => path);
  const hidden = mounts.filter(({ access }) => access === 'empty');
  const read = mounts.filter(({ access }) => access === 'read').flatMap((mount) => apart(mount.path, hidden));
  const write = mounts.filter(({ access }) => access === 'write').map(({ path }) => path);
  const inner = mounts.filter(
    (mount) => enclosing(mount.path, mounts)?.access === 'empty' && mount.access === 'read',
  );
  return { read: [...new Set([...base, ...read, ...inner.map(({ path }) => path)])], write };
}

function apart(folder: string, hidden: readonly Mount[]): string[] {
  if (hidden.some(({ path }) => path === folder)) return [];
  if (!hidden.some(({ path }) => isBelow(path, folder))) return [folder];
  return readdirSync(folder).flatMap((name) => apart(join(folder, name), hidden));
}
