import { lstatSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Config } from '../../protocol/config-file.ts';
import { homeFolder } from '../../util/home-folder.ts';

/** A configured folder in the project, and the first link on the way to it. */
export interface LinkedFolder {
  key: string;
  folder: string;
  link: string;
}

/** A configured folder as an absolute path: relative to the project's folder, or to the home folder after `~/`. */
export function absoluteFolder(folder: string, root: string): string {
  if (folder === '~' || folder.startsWith('~/')) return join(homeFolder(), folder.slice(1));
  return resolve(root, folder);
}

/** The folders in the project, default ones too, to which a link leads. A cloned project contains its links. */
export function linkedFolders(config: Config, root: string): LinkedFolder[] {
  return foldersOf(config).flatMap(({ key, folder }) => {
    const link = firstLink(absoluteFolder(folder, root), root);
    return link === undefined ? [] : [{ key, folder, link }];
  });
}

/** Every folder of the configuration that ACOR reads or writes, or that tools get. */
function foldersOf({ project, security }: Config): { key: string; folder: string }[] {
  const registries = ['tools', ...project.tools_dirs].map((dir) => join(dir, 'registry'));
  return [
    { key: 'project.runs_dir', folder: project.runs_dir },
    ...project.tools_dirs.map((folder) => ({ key: 'project.tools_dirs', folder })),
    ...[project.registry_dir, ...registries].map((folder) => ({ key: 'project.registry_dir', folder })),
    ...security.grant_roots.map((folder) => ({ key: 'security.grant_roots', folder })),
  ];
}

/** The first link on the way from the project's folder to a folder in it. */
function firstLink(path: string, root: string): string | undefined {
  const way = relative(root, path);
  if (way === '' || way.split(sep)[0] === '..' || isAbsolute(way)) return undefined;
  let at = root;
  for (const name of way.split(sep)) {
    at = join(at, name);
    const stats = statsOf(at);
    if (stats === undefined) return undefined;
    if (stats.isSymbolicLink()) return at;
  }
  return undefined;
}

/** Undefined also for what cannot be reached at all. */
function statsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
