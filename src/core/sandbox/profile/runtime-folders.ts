import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Folders in which programs lie; what belongs to them lies beside. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'libexec', 'shims', 'Scripts'];
/** Too much would come along with these. */
const BROAD_FOLDERS = /^\/(home|root|Users|opt|srv|var|mnt|media|tmp)?$|^\/(home|Users)\/[^/]+$/;

/** What must be readable for a program to run that lies outside of the base system: it, and what is installed with it. */
export function runtimeFolders(program: string): string[] {
  const found = [program];
  const real = realOf(program);
  const environment = dirname(dirname(program));
  // Python finds its virtual environment from the path by which it is called.
  if (existsSync(join(environment, 'pyvenv.cfg'))) found.push(environment);
  found.push(installationOf(real));
  if (!isLink(program)) found.push(installationOf(program));
  return [...new Set(found)];
}

/** `/opt/python/bin/python3` belongs to `/opt/python`; a program that lies by itself, to nothing. */
function installationOf(program: string): string {
  const folder = dirname(program);
  const above = dirname(folder);
  return PROGRAM_FOLDERS.includes(basename(folder)) && !BROAD_FOLDERS.test(above) ? above : program;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
