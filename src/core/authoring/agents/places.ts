import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInside } from '../../registry/real-path.ts';
import type { WantedFile } from './wanted-files.ts';

/** Where a person has made one folder a link to another, two names are one file: the first of them is kept. */
export function apartOnDisk(root: string, files: readonly WantedFile[]): WantedFile[] {
  const seen = new Set<string>();
  return files.filter(({ path }) => {
    const real = realPlace(join(root, path));
    return !seen.has(real) && seen.add(real);
  });
}

/** Whether a path stays in the project once the links in it are followed: a project that was cloned may lead to the user's own settings. */
export function leadsOut(root: string, path: string): boolean {
  return !isInside(realPlace(path), realPlace(root));
}

/** A path without links in its folders; the file itself and what does not exist yet are taken as written. */
function realPlace(path: string): string {
  const folder = dirname(path);
  if (path === folder) return path;
  try {
    return join(realpathSync(folder), basename(path));
  } catch {
    return join(realPlace(folder), basename(path));
  }
}
