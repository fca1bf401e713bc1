import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { folderOf } from './layout.ts';

/**
 * Where a recorded file is now: logs have absolute paths, and a store may be a copy, or was moved. A file of a run's folder is in the
 * folder of that run in this store; any other file is where it was recorded.
 */
export function pathNow(root: string, runId: string, path: string): string {
  if (path.startsWith(`${root}/`) || path.startsWith(`${realOf(root)}/`)) return path;
  const inside = pathInside(root, runId, path);
  return inside === undefined ? path : join(folderOf(root, runId), inside);
}

/** The path of a file within the folder of a run, as recorded by the store or by the one that it was copied from; undefined for any other file. */
export function pathInside(root: string, runId: string, path: string): string | undefined {
  for (const name of [root, realOf(root)].map((each) => basename(each))) {
    const folder = `/${name}/${runId}/`;
    const at = path.indexOf(folder);
    if (at !== -1) return path.slice(at + folder.length);
  }
  return undefined;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
