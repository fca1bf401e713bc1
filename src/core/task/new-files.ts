import { linkSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { errorMessage } from '../../util/error-code.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { openWork } from '../run/attempt/output-place.ts';
import type { RunWorkspace } from '../run/workspace.ts';
import { mayBeWritten, NEW_FILES } from './executor-tool.ts';

/** What was put at the top of the project, and why the rest was not. */
export interface PlacedFiles {
  placed: string[];
  refused: { path: string; why: string }[];
}

/**
 * Moves new files and folders to the top of the project, after the executor has ended. An existing file stays, and so does what other
 * programs execute or obey.
 */
export function placeNewFiles(workspace: RunWorkspace, root: string, closed: readonly string[]): PlacedFiles {
  const found: PlacedFiles = { placed: [], refused: [] };
  using work = openWork(workspace);
  if (work.statsOf(NEW_FILES)?.isDirectory() !== true) return found;
  using top = work.child(NEW_FILES);
  using project = OpenFolder.trusted(root);
  for (const name of top.names().map(String)) {
    const why = mayBeWritten(name, closed) ? place(top, project, name) : 'other programs execute or obey it';
    if (why === undefined) found.placed.push(name);
    else found.refused.push({ path: join(root, name), why });
  }
  return found;
}

/** The path of a new file that was put in place; any other path as it is. `placed` are names at the top of the project. */
export function placedPath(
  path: string,
  workspace: RunWorkspace,
  root: string,
  placed: ReadonlySet<string>,
): string {
  const [folder, top, ...rest] = relative(workspace.work, path).split('/');
  if (folder !== NEW_FILES || top === undefined || !placed.has(top)) return path;
  return join(root, top, ...rest);
}

/** Undefined when it is in place. */
function place(top: OpenFolder, project: OpenFolder, name: string): string | undefined {
  const stats = top.statsOf(name);
  if (stats === undefined || (!stats.isFile() && !stats.isDirectory()))
    return 'it is neither a file nor a folder';
  if (project.statsOf(name) !== undefined)
    return 'it exists already, and can be changed in place by a name in task.writes';
  try {
    if (stats.isDirectory()) renameSync(top.at(name), project.at(name));
    else {
      // Unlike a new name, a link never replaces a file.
      linkSync(top.at(name), project.at(name));
      rmSync(top.at(name));
    }
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
