import { os } from './system.ts';

/** The home folder: `HOME` of an environment, else the system's. Only a start without `HOME` loads `node:os`. */
export function homeFolder(env: Readonly<Record<string, string | undefined>> = {}): string {
  return env['HOME'] || os().homedir();
}

/** The fix where a folder of the user's data cannot be made or written. A service account may have a home such as /dev/null. */
export function dataFolderFix(folder: string): string {
  return `Set XDG_DATA_HOME (or HOME) to a folder that this user can write, or make this one writable: ${folder}`;
}
