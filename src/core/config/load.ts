import { basename } from 'node:path';
import { CONFIG_DEFAULTS } from '../../protocol/config-defaults.ts';
import type { Config } from '../../protocol/config-file.ts';
import { findProject, findUserFile } from './find.ts';
import { applySetting, leavesOf, settingsOfEnvironment, settingsOfFile, settingsOfFlags } from './layers.ts';
import type { Setting } from './settings-cache.ts';

export type ConfigSource = 'flag' | 'environment' | 'project' | 'user' | 'default';

/** The origin of a value: the source, and file:line:column or the variable. */
export interface Origin {
  source: ConfigSource;
  where?: string;
}

/** The effective configuration, and the origin of each value. */
export interface LoadedConfig {
  config: Config;
  /** The folder that contains `.acor`, else the working directory; absolute. */
  root: string;
  /** The project's file, or null when there is none. */
  file: string | null;
  /** By dotted key. */
  origins: Record<string, Origin>;
  /** Deprecated keys in the files, described in words. */
  warnings: string[];
}

/**
 * Loads the configuration (contract §6). Precedence: flag, variable, project file, user file, default. Throws
 * E_CONFIG_INVALID with every problem of the first invalid source.
 */
export async function loadConfig(options: {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  overrides?: Readonly<Record<string, unknown>>;
}): Promise<LoadedConfig> {
  const { cwd, env, overrides = {} } = options;
  const { root, file } = findProject(cwd);
  const userFile = findUserFile(env);
  const config: Config = structuredClone(CONFIG_DEFAULTS);
  config.project.name = basename(root) || 'project';
  const origins: Record<string, Origin> = {};
  for (const { path } of leavesOf(config)) origins[path.join('.')] = { source: 'default' };

  const warnings: string[] = [];
  const layers: [ConfigSource, Setting[]][] = [
    ['user', userFile ? await settingsOfFile(userFile, env) : []],
    ['project', file ? await settingsOfFile(file, env) : []],
    ['environment', await settingsOfEnvironment(env)],
    ['flag', await settingsOfFlags(overrides)],
  ];
  for (const [source, settings] of layers) {
    for (const setting of settings) {
      applySetting(config, setting);
      origins[setting.path.join('.')] = { source, where: setting.where };
      if (setting.deprecated !== undefined) {
        const { key, fix } = setting.deprecated;
        warnings.push(`${setting.where}: '${key}' is deprecated. ${fix}`);
      }
    }
  }
  return { config, root, file, origins, warnings };
}
