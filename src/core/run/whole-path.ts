import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SaidDenial } from '../policy/said-denials.ts';

/**
 * The path that a message names without quotes: where it ends is not written if it has spaces. The longest that is there or
 * that an argument has; else the shortest in the deepest folder that is there.
 */
export function wholePath(
  { path, rest }: Extract<SaidDenial, { kind: 'path' }>,
  args: readonly string[],
): string {
  const longer = rest?.split(' ').slice(1) ?? [];
  const all = [path, ...longer.map((_, index) => [path, ...longer.slice(0, index + 1)].join(' '))];
  const known = all.findLast((each) => isThere(each) || args.some((word) => word.includes(each)));
  if (known !== undefined) return known;
  const inFolder = all.filter((each) => isThere(dirname(each)));
  const deepest = Math.max(...inFolder.map(depthOf));
  return inFolder.find((each) => depthOf(each) === deepest) ?? path;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function depthOf(path: string): number {
  return path.split('/').length;
}
