import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FileChange } from '../../protocol/markers/marker.ts';

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
  const walk = (path: string): void => {
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false, bigint: true });
    if (stats === undefined) return;
    if (!stats.isDirectory()) {
      found.set(path, `${stats.ino} ${stats.size} ${stats.mtimeNs}`);
      return;
    }
    for (const name of readdirSync(join(root, path))) {
      if (found.size > MAX_FILES) return;
      if (!UNWALKED.includes(name)) walk(join(path, name));
    }
  };
  for (const path of writes) walk(path);
  return found.size > MAX_FILES ? undefined : found;
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
