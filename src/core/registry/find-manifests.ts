import { join } from 'node:path';
import { type Problem, problemOf } from '../config/problem.ts';
import type { Candidate } from './candidate.ts';
import type { WatchedFiles } from './watched-files.ts';

/**
 * The manifests of a tool, the effective one first: a registry takes precedence over the tool's folder (contract §5).
 */
export function findManifests({ path, kind, registryFolders }: Candidate, files: WatchedFiles): string[] {
  const found = registryFolders
    .map((folder) => join(folder, 'tool.yaml'))
    .filter((file) => files.lstat(file) !== undefined);
  if (found.length > 0 || kind !== 'folder') return found;
  return files.entryIn(path, 'tool.yaml') ? [join(path, 'tool.yaml')] : [];
}

/** Two registries contain a manifest of the same tool. */
export function rivalManifests([first, second]: readonly string[]): Problem[] {
  if (first === undefined || second === undefined) return [];
  return [
    problemOf(
      second,
      'two-manifests',
      `two registries contain a manifest of the tool: ${first} and ${second}`,
      'Remove one of them.',
    ),
  ];
}

/** A file that looks like a manifest but has a name that ACOR does not read. */
export function misnamedManifest({ path, kind }: Candidate, files: WatchedFiles): Problem[] {
  const other = join(path, 'tool.yml');
  if (kind !== 'folder' || !files.entryIn(path, 'tool.yml')) return [];
  return [
    problemOf(
      other,
      'manifest-name',
      'the file name of a manifest is tool.yaml, so ACOR does not read this file',
      `Rename it: mv '${other}' '${join(path, 'tool.yaml')}'`,
    ),
  ];
}
