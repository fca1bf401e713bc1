import { os } from './system.ts';

/** The home folder: `HOME` of an environment, else the system's. Only a start without `HOME` loads `node:os`. */
export function homeFolder(env: Readonly<Record<string, string | undefined>> = {}): string {
  return env['HOME'] || os().homedir();
}
