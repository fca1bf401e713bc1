import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn } from '../write-own-files.ts';

/** SHA-256 in hexadecimal, by the path of the file. */
export type Digests = ReadonlyMap<string, string>;

export function digestsOf(folder: string): Digests {
  const digest = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  return new Map(filesIn(folder).map((path) => [path, digest(path)]));
}
