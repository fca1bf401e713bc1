import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBelow, type Mount } from './mounts.ts';
import type { Profile } from './profile.ts';

/**
 * A profile as an allowlist, for a mechanism that cannot exclude a subfolder: a folder with a hidden subfolder is
 * replaced by the other entries of the folder. An entry that is created later in such a folder is not allowed.
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
