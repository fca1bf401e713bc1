import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LoadedConfig } from './load.ts';

/** A path of the configuration, made absolute: relative to the project's folder, or to the home folder after `~/`. */
export function projectPath({ root }: LoadedConfig, path: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return resolve(root, path);
}

/** Where runs are kept. */
export function runsDirOf(config: LoadedConfig): string {
  return projectPath(config, config.config.project.runs_dir);
}

/** Where tools are looked for, in the configured order. */
export function toolsDirsOf(config: LoadedConfig): string[] {
  return [...new Set(config.config.project.tools_dirs.map((dir) => projectPath(config, dir)))];
}

/** Where manifests are kept apart from their tools (contract §5). */
export function registryDirsOf(config: LoadedConfig): string[] {
  const besideTools = [projectPath(config, 'tools'), ...toolsDirsOf(config)].map((dir) =>
    join(dir, 'registry'),
  );
  return [...new Set([projectPath(config, config.config.project.registry_dir), ...besideTools])];
}
