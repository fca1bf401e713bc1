import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { type LoadedConfig, loadConfig, newConfig, toolsDirsOf } from '../../config/load.ts';
import { discover } from '../../registry/discover.ts';
import { DiscoveryCache } from '../../registry/discovery-cache.ts';
import { LANGUAGES } from '../../registry/languages/index.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';

/** The configuration of a folder that is or becomes a project, whatever project encloses it. */
export async function configAt(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig> {
  return existsSync(join(root, '.acor')) ? loadConfig({ cwd: root, env }) : newConfig(root, env);
}

/** Finds the tools of a project without writing a cache. */
export function toolsOf(config: LoadedConfig): Promise<ToolEntry[]> {
  return discover(config, new DiscoveryCache(devNull, '', 0), LANGUAGES);
}

/** The folder for new tools: `tools/`, unless the project searches other folders. */
export function newToolsFolder(config: LoadedConfig): string {
  const dirs = toolsDirsOf(config);
  const plain = join(config.root, 'tools');
  return dirs.includes(plain) ? plain : (dirs[0] ?? plain);
}
