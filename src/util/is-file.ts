import { statSync } from 'node:fs';

/** Whether a regular file stands at a path, behind links too; what cannot be looked at is none. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
