import { lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { homeFolder } from '../../util/home-folder.ts';

/**
 * Finds the project from a folder upwards (contract §6): the nearest folder that contains `.acor`, else the folder
 * itself. Above that folder, a project of another user is ignored: any user can create a folder in /tmp.
 */
export function findProject(cwd: string): { root: string; file: string | null; isProject: boolean } {
  const start = resolve(cwd);
  for (let dir = start; ; dir = dirname(dir)) {
    const found = statOf(join(dir, '.acor'));
    if (found?.isDirectory() && (dir === start || isOwn(found.uid, start))) {
      const file = join(dir, '.acor', 'config.yaml');
      return { root: dir, file: isNamed(file) ? file : null, isProject: true };
    }
    if (dir === dirname(dir)) return { root: start, file: null, isProject: false };
  }
}

/** Whether a project belongs to root, to this user, or to whom the folder belongs in which the user works. */
function isOwn(owner: number, start: string): boolean {
  return owner === 0 || owner === process.getuid?.() || owner === statOf(start)?.uid;
}

/**
 * The nearest folder above that has a folder `tools` with something in it, for a folder in no project: without `.acor`,
 * a folder is a project only for calls from the folder itself.
 */
export function toolsAbove(root: string): string | undefined {
  for (let dir = dirname(root); ; dir = dirname(dir)) {
    if (hasEntries(join(dir, 'tools'))) return dir;
    if (dir === dirname(dir)) return undefined;
  }
}

/** The user's configuration file, in the XDG configuration folder; null when it does not exist. */
export function findUserFile(env: Readonly<Record<string, string | undefined>>): string | null {
  const file = join(userFolder('XDG_CONFIG_HOME', '.config', env), 'config.yaml');
  return isNamed(file) ? file : null;
}

/** ACOR's folder in an XDG base directory. */
export function userFolder(
  variable: 'XDG_CONFIG_HOME' | 'XDG_DATA_HOME' | 'XDG_CACHE_HOME',
  fallback: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const xdg = env[variable];
  // The XDG specification requires relative values to be ignored.
  const base = xdg && isAbsolute(xdg) ? xdg : join(homeFolder(env), fallback);
  return join(base, 'acor');
}

/** ACOR's folder for the sockets of this session; undefined where the session has no such folder. */
export function sessionFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const runtime = env['XDG_RUNTIME_DIR'];
  return runtime && isAbsolute(runtime) ? join(runtime, 'acor') : undefined;
}

/** All of ACOR's folders of a user. Tools must not access policies, approvals, caches and sockets of them. */
export function userFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  const session = sessionFolder(env);
  return [
    ...(session === undefined ? [] : [session]),
    userFolder('XDG_CONFIG_HOME', '.config', env),
    userFolder('XDG_DATA_HOME', join('.local', 'share'), env),
    userFolder('XDG_CACHE_HOME', '.cache', env),
  ];
}

/**
 * A file that exists but cannot be read, such as a dangling link, is an error: its settings must not be silently
 * ignored.
 */
export function isNamed(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return errorCode(error) !== 'ENOTDIR';
  }
}

function hasEntries(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.startsWith('.'));
  } catch {
    return false;
  }
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
