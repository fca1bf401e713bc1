import { join } from 'node:path';
import { sdkPaths } from '../registry/sdk-paths.ts';

/**
 * The command that starts a plugin's process: the compiled program itself, or the runtime that runs the sources or the
 * library.
 */
export function hostCommand(): [string, ...string[]] {
  if (import.meta.dirname.startsWith('/$bunfs')) return [process.execPath, 'plugin-host'];
  const { packageRoot } = sdkPaths();
  const main = import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, 'host', 'main.ts')
    : join(packageRoot, 'dist', 'lib', 'core', 'plugins', 'host', 'main.js');
  if (process.versions['bun'] === undefined) return [process.execPath, main];
  return [
    process.execPath,
    '--no-env-file',
    // Prevents Bun from downloading a package that a plugin imports and that is not installed.
    '--no-install',
    `--config=${join(packageRoot, 'bunfig.toml')}`,
    // Bun would otherwise apply the `paths` of a tsconfig.json in the working directory.
    `--tsconfig-override=${join(packageRoot, 'tsconfig.json')}`,
    main,
  ];
}
