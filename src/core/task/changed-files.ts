import { lstatSync, type Stats } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { FileChange } from '../../protocol/markers/marker.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { walkTree } from '../../util/walk-tree.ts';

/** A changed file. The path is relative to the project's folder. */
export interface ChangedFile {
  path: string;
  change: FileChange;
}

/** Signatures of files by path, enough to detect a change. */
export type Snapshot = ReadonlyMap<string, string>;

/** In a larger tree, ACOR only checks the files that an executor names. */
const MAX_FILES = 50_000;
const UNWALKED = ['node_modules', '.git'];

/** Records the files in a task's writable places; undefined when there are too many. No version control is involved. */
export function snapshotOf(root: string, writes: readonly string[]): Snapshot | undefined {
  const found = new Map<string, string>();
  for (const path of writes) {
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (!stats.isDirectory()) {
      found.set(path, signatureOf(stats));
      continue;
    }
    using folder = OpenFolder.trusted(join(root, path));
    const enters = (step: { path: string }) => !UNWALKED.includes(basename(step.path));
    for (const step of walkTree(folder, { enters })) {
      if (step.kind === 'entry' && !UNWALKED.includes(String(step.name)))
        found.set(relative(root, step.path), signatureOf(step.stats));
      if (found.size > MAX_FILES) return undefined;
    }
  }
  return found;
}

function signatureOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`;
}

/** The differences between two snapshots, sorted by path. */
export function changesBetween(before: Snapshot, after: Snapshot): ChangedFile[] {
  const changes: ChangedFile[] = [];
  for (const [path, mark] of after) {
    if (!before.has(path)) changes.push({ path, change: 'created' });
    else if (before.get(path) !== mark) changes.push({ path, change: 'modified' });
  }
  for (const path of before.keys()) if (!after.has(path)) changes.push({ path, change: 'deleted' });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}
