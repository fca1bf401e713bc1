import { join } from 'node:path';
import { sdkPaths } from '../registry/sdk-paths.ts';

/** How a process for a plugin is started: the compiled program by itself, the sources and the library by the runtime that runs them. */
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
    // Otherwise Bun downloads a package that a plugin imports and that is not installed.
    '--no-install',
    `--config=${join(packageRoot, 'bunfig.toml')}`,
    // Bun takes the paths of a tsconfig.json in the working directory for its own.
    `--tsconfig-override=${join(packageRoot, 'tsconfig.json')}`,
    main,
  ];
}
