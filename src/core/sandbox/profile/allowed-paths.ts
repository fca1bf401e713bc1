import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBelow, type Mount } from './mounts.ts';
import type { Profile } from './profile.ts';

/**
 * A profile as a list of what is allowed, for a mechanism that cannot take anything out of a folder: a folder that holds a hidden
 * one is taken apart into what lies beside that. What comes into such a folder later is not allowed.
 */
export function allowedPaths({ sees, system, mounts }: Profile): Mount[] {
  const hidden = mounts.filter(({ access }) => access === 'empty');
  const base: Mount[] =
    sees === 'all'
      ? apart('/', hidden).map((path) => ({ path, access: 'write' }))
      : system.filter(({ link }) => link === null).map(({ path }) => ({ path, access: 'read' }));
  return [
    ...base,
    ...mounts.flatMap((mount) => {
      if (mount.access === 'empty') return [];
      return apart(mount.path, hidden).map((path) => ({ ...mount, path }));
    }),
  ];
}

function apart(folder: string, hidden: readonly Mount[]): string[] {
  if (hidden.some(({ path }) => path === folder)) return [];
  if (!hidden.some(({ path }) => isBelow(path, folder))) return [folder];
  return readdirSync(folder).flatMap((name) => apart(join(folder, name), hidden));
}
