import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { userFolder } from '../config/find.ts';
import { commonFolder, type PluginFiles } from './plugin-files.ts';

/**
 * Writes the approved bytes to the user's cache folder and returns the path of the plugin's main file there. Plugins
 * run from this copy: the project may change between the check of an approval and the start, and files without approval
 * must not be loadable.
 */
export function copyOf(
  { digest, bytes }: PluginFiles,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const paths = [...bytes.keys()];
  const from = commonFolder(paths);
  const folder = join(userFolder('XDG_CACHE_HOME', '.cache', env), 'plugins', digest);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Without this file, Node treats `.js` as CommonJS and searches parent folders for a package.json.
  put(join(folder, 'package.json'), Buffer.from('{"type":"module"}\n'));
  for (const [path, content] of bytes) put(join(folder, 'files', relative(from, path)), content);
  return join(folder, 'files', relative(from, paths[0]!));
}

function put(path: string, content: Buffer): void {
  if (holds(path, content)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomic(path, content, { mode: 0o600 });
}

function holds(path: string, content: Buffer): boolean {
  try {
    return readFileSync(path).equals(content);
  } catch {
    return false;
  }
}
