import { readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { OpenFolder } from '../../../util/open-folder.ts';
import { isInside } from '../../../util/real-path.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { walkTree } from '../../../util/walk-tree.ts';
import type { RunWorkspace } from '../workspace.ts';
import { openWork } from './output-place.ts';

const MAX_SHOWN = 20;
const MAX_LOOKED_AT = 1000;
/** What interpreters leave, not tools. */
const CACHES = new Set(['__pycache__', 'node_modules']);

/** What a tool left in its workspace beside its artifacts. */
export interface Leftovers {
  msg: string;
  /** Relative to the workspace. */
  leftovers: string[];
  hint: string;
}

/** The files that a completed tool left in its workspace although they are no artifacts; hidden ones do not count. */
export function leftoversIn(workspace: RunWorkspace, artifacts: readonly string[]): Leftovers | undefined {
  const { work } = workspace;
  if (hasOnlyHidden(work)) return undefined;
  using folder = openIfThere(workspace);
  if (folder === undefined) return undefined;
  const isOfInterest = (path: string) => {
    const name = basename(path);
    return !name.startsWith('.') && !CACHES.has(name) && !artifacts.some((each) => isInside(path, each));
  };
  const found: string[] = [];
  const regular = new Set<string>();
  let looked = 0;
  for (const step of walkTree(folder, {
    enters: ({ path }) => isOfInterest(path),
    // The tool may have made it unreadable.
    onError: () => {},
  })) {
    if (++looked > MAX_LOOKED_AT) break;
    if (step.kind !== 'entry' || !isOfInterest(step.path)) continue;
    const { stats } = step;
    // A named pipe or a socket has no content to keep.
    if (!stats.isFile() && !stats.isSymbolicLink()) continue;
    const path = relative(folder.path, step.path);
    found.push(path);
    if (stats.isFile()) regular.add(path);
  }
  if (found.length === 0) return undefined;
  const shown = found.sort().slice(0, MAX_SHOWN);
  const rest = found.length - shown.length;
  const more = rest === 0 ? '' : `, and ${looked > MAX_LOOKED_AT ? 'at least ' : ''}${rest} more`;
  // To copy a link can take for ever: it may lead to a named pipe.
  const kept = shown.find((path) => regular.has(path));
  const how = kept === undefined ? '' : `. To keep one: ${shellCommand(['cp', join(work, kept), '.'])}`;
  return {
    msg: `the tool left files in its workspace that are not artifacts: ${shown.join(', ')}${more}${how}`,
    leftovers: shown,
    hint: 'A tool keeps a file itself when it writes to ARTIFACTS_DIR, or to a path input with access: write.',
  };
}

/** Whether a look at the names is enough: most tools leave none. */
function hasOnlyHidden(folder: string): boolean {
  try {
    return readdirSync(folder).every((name) => name.startsWith('.'));
  } catch {
    return false;
  }
}

/** A tool may have removed its workspace, or put something else in its place. */
function openIfThere(workspace: RunWorkspace): OpenFolder | undefined {
  try {
    return openWork(workspace);
  } catch {
    return undefined;
  }
}
