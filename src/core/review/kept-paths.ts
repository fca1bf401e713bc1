import { join } from 'node:path';
import { newSha256 } from '../../util/sha256.ts';
import { KEPT } from '../store-files/layout.ts';

/** The name by which a place is kept. */
export function keptId(path: string): string {
  return newSha256().update(path).digest('hex').slice(0, 16);
}

/** Where the copy of a place is, as a path in the run's folder. */
export function treeOf(path: string): string {
  return join(KEPT, keptId(path), 'tree');
}
