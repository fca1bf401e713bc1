import { statSync } from 'node:fs';

/** Whether a path is a regular file, following links; false when it cannot be read. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
