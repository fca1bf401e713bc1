import { tmpdir } from 'node:os';
import type { LoadedConfig } from '../config/load.ts';
import { projectPath } from '../config/paths.ts';
import { realPathOf } from './real-path.ts';

/** The folders under which a path argument may lie: project, working directory, system temp, and those configured. */
export function grantRoots(config: LoadedConfig, cwd: string): string[] {
  const extra = config.config.security.grant_roots.map((root) => projectPath(config, root));
  return [...new Set([config.root, cwd, tmpdir(), ...extra].map((root) => realPathOf(root, cwd).path))];
}
