import { lstatSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { errorCode } from '../../util/error-code.ts';

/** Finds the project upwards from a folder (contract §6): the nearest folder that holds `.acor`, else the folder itself. */
export function findProject(cwd: string): { root: string; file: string | null } {
  const start = resolve(cwd);
  for (let dir = start; ; dir = dirname(dir)) {
    if (statOf(join(dir, '.acor'))?.isDirectory()) {
      const file = join(dir, '.acor', 'config.yaml');
      return { root: dir, file: isNamed(file) ? file : null };
    }
    if (dir === dirname(dir)) return { root: start, file: null };
  }
}

/** The user's own file, in the XDG configuration folder; null when there is none. */
export function findUserFile(env: Readonly<Record<string, string | undefined>>): string | null {
  const file = join(userFolder('XDG_CONFIG_HOME', '.config', env), 'config.yaml');
  return isNamed(file) ? file : null;
}

/** ACOR's folder among those that XDG gives a user. */
export function userFolder(
  variable: 'XDG_CONFIG_HOME' | 'XDG_DATA_HOME' | 'XDG_CACHE_HOME',
  fallback: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const xdg = env[variable];
  // The XDG specification has relative values ignored.
  const base = xdg && isAbsolute(xdg) ? xdg : join(env['HOME'] || homedir(), fallback);
  return join(base, 'acor');
}

/** All folders of ACOR's own in a user's home: policies, approvals and what was read of them are no tool's business. */
export function userFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  return [
    userFolder('XDG_CONFIG_HOME', '.config', env),
    userFolder('XDG_DATA_HOME', join('.local', 'share'), env),
    userFolder('XDG_CACHE_HOME', '.cache', env),
  ];
}

/** A file that is there and cannot be reached, such as a link to nowhere, is not taken for none: its settings would vanish unseen. */
export function isNamed(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return errorCode(error) !== 'ENOTDIR';
  }
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
