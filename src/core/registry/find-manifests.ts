import { join } from 'node:path';
import { type Problem, problemOf } from '../config/problem.ts';
import type { Candidate } from './candidate.ts';
import type { WatchedFiles } from './watched-files.ts';

/** The manifests of a tool, the one in force first: those of the registries win over the one beside it (contract §5). */
export function findManifests({ path, kind, registryFolders }: Candidate, files: WatchedFiles): string[] {
  const found = registryFolders
    .map((folder) => join(folder, 'tool.yaml'))
    .filter((file) => files.lstat(file) !== undefined);
  if (found.length > 0 || kind !== 'folder') return found;
  return files.entryIn(path, 'tool.yaml') ? [join(path, 'tool.yaml')] : [];
}

/** Two registries that both hold a manifest of the tool. */
export function rivalManifests([first, second]: readonly string[]): Problem[] {
  if (first === undefined || second === undefined) return [];
  return [
    problemOf(
      second,
      'two-manifests',
      `two registries hold a manifest of the tool: ${first} and ${second}`,
      'Remove one of them.',
    ),
  ];
}

/** A file that would be taken for a manifest by everybody but ACOR. */
export function misnamedManifest({ path, kind }: Candidate, files: WatchedFiles): Problem[] {
  const other = join(path, 'tool.yml');
  if (kind !== 'folder' || !files.entryIn(path, 'tool.yml')) return [];
  return [
    problemOf(
      other,
      'manifest-name',
      'a manifest is called tool.yaml, so this file is not read',
      `Rename it: mv '${other}' '${join(path, 'tool.yaml')}'`,
    ),
  ];
}
