import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Plugins } from '../plugins/plugins.ts';
import { Registry } from '../registry/registry.ts';

/** What a project has without its runs: its configuration, its tools, and plugins if it has any. */
export interface ProjectTools {
  config: LoadedConfig;
  registry: Registry;
  plugins: Plugins | undefined;
}

/** Where to search for a project, and its configuration besides files. */
export interface ToolsPlace {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Configuration by dotted key; it wins over every file. */
  overrides?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Opens the tools of a project. Returns `last` when configuration and plugins are unchanged, so the registry's cache stays in
 * memory; each use still checks the tools' files. Throws E_CONFIG_INVALID.
 */
export async function openTools(
  { cwd, env, overrides }: ToolsPlace,
  last?: ProjectTools,
): Promise<ProjectTools> {
  const options = { cwd, env, ...(overrides && { overrides }) };
  // Loaded late: most processes answer one call.
  const config =
    last === undefined
      ? await loadConfig(options)
      : await (await import('../config/load-again.ts')).loadConfigAgain(options, last.config);
  const plugins = await pluginsOf(config, env);
  if (last !== undefined && isUnchanged(last, config, plugins)) return last;
  return { config, registry: Registry.open(config, plugins), plugins };
}

/** The plugins of a project, if it has any. Starts none. */
export async function pluginsOf(config: LoadedConfig, env: ToolsPlace['env']): Promise<Plugins | undefined> {
  if (config.config.plugins.length === 0) return undefined;
  return (await import('../plugins/plugins.ts')).Plugins.open(config, env);
}

/** A plugin whose process has ended is started again, as in a new command. */
function isUnchanged(last: ProjectTools, config: LoadedConfig, plugins: Plugins | undefined): boolean {
  if (last.plugins?.key !== plugins?.key || last.plugins?.hasEnded) return false;
  return last.config === config;
}
