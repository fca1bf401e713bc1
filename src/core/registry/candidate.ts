import { join, parse } from 'node:path';
import { type Problem, problemOf } from '../config/problem.ts';
import type { Language } from './languages/language.ts';
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

/** A possible tool: its place, and the registry folders with its name. */
export interface Candidate {
  path: string;
  name: string;
  kind: 'folder' | 'file' | 'link';
  /** The real folder that must contain it. */
  root: string;
  registryFolders: readonly string[];
  /** The languages that tools here may use. */
  languages: readonly Language[];
  /** In a registry, only a manifest makes a folder a tool. */
  needsManifest?: boolean;
  /** The language from a configured pattern. */
  language?: string;
}

/** The name of a single-file tool: the file name without its extension. */
export function stemOf(fileName: string): string {
  return parse(fileName).name;
}
