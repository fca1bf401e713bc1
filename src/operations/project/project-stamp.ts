import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promptsDirOf } from '../../core/published/prompts.ts';
import type { Registry } from '../../core/registry/registry.ts';
import { watchRuns } from '../../core/store-files/watch-runs.ts';
import type { AcorApp } from '../acor-app.ts';
import { projectPrompts, publishedResources } from './published.ts';

/** A snapshot of what a project offers, to detect changes. */
export interface ProjectStamp {
  registry: Registry;
  revision: number | undefined;
  tools: string;
  prompts: string;
  /** The published files by path. */
  files: ReadonlyMap<string, string>;
  /** The files that it depends on, and the folders of which every entry counts; undefined when one has changed too recently for a signature. */
  paths: ReadonlySet<string> | undefined;
}

/** The current snapshot. `last` saves work when the tools have not been read again since. */
export async function projectStamp(app: AcorApp, last: ProjectStamp | undefined): Promise<ProjectStamp> {
  const { registry, config } = await app.project();
  const tools = await registry.list();
  const { revision, paths } = registry;
  const isSame = revision !== undefined && last?.registry === registry && last.revision === revision;
  const { files } = await publishedResources(app);
  const published = new Map(files.map(({ path, uri }) => [join(config.root, path), uri]));
  const own = [join(config.root, '.acor'), promptsDirOf(config)];
  return {
    registry,
    revision,
    tools: isSame ? last.tools : JSON.stringify(tools),
    prompts: JSON.stringify(await projectPrompts(app)),
    files: published,
    paths: paths === undefined ? undefined : new Set([...own, ...paths, ...published.keys()]),
  };
}

/**
 * Reports the runs of the project, as `watchRuns` does, to the server itself, which answers to nobody: each client's right to read
 * is checked where the server reads for it. Returns the function that stops it.
 */
export async function watchProjectRuns(
  app: AcorApp,
  onChange: (runId: string) => void,
  onLedger?: () => void,
): Promise<() => void> {
  return watchRuns((await app.project()).store.root, onChange, onLedger);
}

/** The folders in which a change of one of these paths is reported: a folder itself, else the one that holds it. */
export function foldersToWatch(paths: ReadonlySet<string>): Set<string> {
  return new Set([...paths].flatMap((path) => (isFolder(path) ? [path, dirname(path)] : [dirname(path)])));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
