import { resolve } from 'node:path';

/** The name of what a caller in `cwd` wants to run: that of a tool, or the path of a script. */
export function calledName(given: string, cwd: string): string {
  return given.includes('/') && !given.includes(':') ? resolve(cwd, given) : given;
}
