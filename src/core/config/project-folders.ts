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
  const kinds = new Map<string, Kind>();
  // The folders have parts of their ways in common.
  const kindOf = (path: string) => {
    const kind = kinds.get(path) ?? kindNow(path);
    kinds.set(path, kind);
    return kind;
  };
  return foldersOf(config).flatMap(({ key, folder }) => {
    const link = firstLink(absoluteFolder(folder, root), { root, kindOf });
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

type Kind = 'link' | 'other' | 'missing';

/** The first link on the way from the project's folder to a folder in it. */
function firstLink(
  path: string,
  { root, kindOf }: { root: string; kindOf: (path: string) => Kind },
): string | undefined {
  const way = relative(root, path);
  if (way === '' || way.split(sep)[0] === '..' || isAbsolute(way)) return undefined;
  let at = root;
  for (const name of way.split(sep)) {
    at = join(at, name);
    const kind = kindOf(at);
    if (kind === 'link') return at;
    if (kind === 'missing') return undefined;
  }
  return undefined;
}

/** What cannot be reached at all counts as missing. */
function kindNow(path: string): Kind {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'missing';
    return stats.isSymbolicLink() ? 'link' : 'other';
  } catch {
    return 'missing';
  }
}
