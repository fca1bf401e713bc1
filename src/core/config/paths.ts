import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LoadedConfig } from './load.ts';

/** Makes a configured path absolute: relative to the project's folder, or to the home folder after `~/`. */
export function projectPath({ root }: LoadedConfig, path: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return resolve(root, path);
}

/** The folder of the runs. */
export function runsDirOf(config: LoadedConfig): string {
  return projectPath(config, config.config.project.runs_dir);
}

/** The folders that contain tools, in the configured order. */
export function toolsDirsOf(config: LoadedConfig): string[] {
  return [...new Set(config.config.project.tools_dirs.map((dir) => projectPath(config, dir)))];
}

/** The registry folders: manifests that are separate from their tools (contract §5). */
export function registryDirsOf(config: LoadedConfig): string[] {
  const besideTools = [projectPath(config, 'tools'), ...toolsDirsOf(config)].map((dir) =>
    join(dir, 'registry'),
  );
  return [...new Set([projectPath(config, config.config.project.registry_dir), ...besideTools])];
}
