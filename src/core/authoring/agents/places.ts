import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInside } from '../../registry/real-path.ts';
import type { WantedFile } from './wanted-files.ts';

/** When one folder is a link to another, two paths are one file: keep the first. */
export function apartOnDisk(root: string, files: readonly WantedFile[]): WantedFile[] {
  const seen = new Set<string>();
  return files.filter(({ path }) => {
    const real = realPlace(join(root, path));
    return !seen.has(real) && seen.add(real);
  });
}

/**
 * Whether a path is inside the project after its links are resolved. A cloned project could contain a link to the
 * user's own settings.
 */
export function leadsOut(root: string, path: string): boolean {
  return !isInside(realPlace(path), realPlace(root));
}

/** Resolves the links in the folders of a path. The file name, and folders that do not exist yet, stay as written. */
function realPlace(path: string): string {
  const folder = dirname(path);
  if (path === folder) return path;
  try {
    return join(realpathSync(folder), basename(path));
  } catch {
    return join(realPlace(folder), basename(path));
  }
}
