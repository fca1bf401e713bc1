import type { CommandOf } from '../../protocol/next-steps.ts';
import { type LoadedConfig, loadConfig, runsDirOf } from '../config/load.ts';
import type { Plugins } from '../plugins/plugins.ts';
import type { RunIndex } from '../ports/run-index.ts';
import type { RunQueue } from '../ports/run-queue.ts';
import type { Watchdogs } from '../process/watchdog.ts';
import { Registry } from '../registry/registry.ts';
import type { Standbys } from '../run/attempt/standbys.ts';
import { Workspaces } from '../run/workspace.ts';
import { FileRunQueue } from '../store-files/file-run-queue.ts';
import { FileRunStore } from '../store-files/file-run-store.ts';

/** An open project: its configuration, tools, runs, and plugins if it has any. */
export interface Project {
  config: LoadedConfig;
  registry: Registry;
  store: FileRunStore;
  queue: RunQueue;
  workspaces: Workspaces;
  /** The index of the runs, opened on first use. */
  index: () => Promise<RunIndex>;
  plugins: Plugins | undefined;
}

/** Where to search for a project, and its configuration besides files. */
export interface ProjectPlace {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Configuration by dotted key; it wins over every file. */
  overrides?: Readonly<Record<string, unknown>> | undefined;
  /** Renders a next step as an exact command, for `runner_end` and the record. */
  commandOf: CommandOf;
}

/**
 * Opens a project. Returns `last` when configuration and plugins are unchanged, so the registry's cache stays in
 * memory; each use still checks the tools' files. Throws E_CONFIG_INVALID.
 */
export async function openProject(
  { cwd, env, overrides, commandOf }: ProjectPlace,
  last?: Project,
): Promise<Project> {
  const config = await loadConfig({ cwd, env, ...(overrides && { overrides }) });
  const plugins = await pluginsOf(config, env);
  if (last !== undefined && isUnchanged(last, config, plugins)) return last;
  const runsDir = runsDirOf(config);
  const store = new FileRunStore(runsDir, commandOf);
  let index: Promise<RunIndex> | undefined;
  return {
    config,
    registry: Registry.open(config, plugins),
    store,
    workspaces: new Workspaces(runsDir),
    queue: new FileRunQueue(runsDir),
    index: () => {
      index ??= openIndex(store);
      return index;
    },
    plugins,
  };
}

async function openIndex(store: FileRunStore): Promise<RunIndex> {
  const [{ openRunIndex }, { sourceOfRuns }] = await Promise.all([
    import('../index-sqlite/open-run-index.ts'),
    import('../run/source-of-runs.ts'),
  ]);
  return openRunIndex(store.root, sourceOfRuns(store));
}

/** The plugins of a project, if it has any. Starts none. */
export async function pluginsOf(
  config: LoadedConfig,
  env: ProjectPlace['env'],
): Promise<Plugins | undefined> {
  if (config.config.plugins.length === 0) return undefined;
  return (await import('../plugins/plugins.ts')).Plugins.open(config, env);
}

/** A plugin whose process has ended is started again, as in a new command. */
function isUnchanged(last: Project, config: LoadedConfig, plugins: Plugins | undefined): boolean {
  if (last.plugins?.key !== plugins?.key || last.plugins?.hasEnded) return false;
  return JSON.stringify(last.config) === JSON.stringify(config);
}

/**
 * The project of a process that serves many requests. Each request opens it: files are checked, and only changed ones
 * are read again, so the next request sees every change.
 */
export class ProjectCache {
  #last: Promise<Project | undefined> = Promise.resolve(undefined);
  /** The watchdogs of the runs that this process supervises, once it has supervised one. */
  watchdogs: Watchdogs | undefined;
  /** The sandboxes that wait for its next runs, once it has supervised one. */
  standbys: Standbys | undefined;

  /** Sequential, so that concurrent requests share what the first of them has read. */
  open(place: ProjectPlace): Promise<Project> {
    const before = this.#last;
    const opened = before.then((last) => openProject(place, last));
    this.#last = opened.catch(() => before);
    return opened;
  }
}
