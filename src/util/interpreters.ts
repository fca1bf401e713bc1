import { closeSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';

/** The kernel reads at most this much of a `#!` line. */
const FIRST_LINE_BYTES = 256;
const MAX_CHAIN = 4;

/** A program, and the chain of interpreters that its first line names. */
export function interpretersOf(program: string, path: string): string[] {
  const chain = [program];
  for (let last = program; chain.length < MAX_CHAIN; ) {
    const [first, ...rest] = firstLineOf(last) ?? [];
    if (first === undefined) break;
    chain.push(first);
    last = first;
    if (basename(first) !== 'env') continue;
    const name = rest.find((word) => !word.startsWith('-') && !word.includes('='));
    const found = name === undefined ? undefined : candidatesOf(name, path).find(isReadable);
    if (found === undefined) break;
    chain.push(found);
    last = found;
  }
  return chain;
}

/** The words of the first line of a script, after its `#!`. */
export function firstLineOf(program: string): string[] | undefined {
  try {
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    const fd = openSync(program, 'r');
    try {
      const line = bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0)).split('\n', 1)[0]!;
      return line.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** Every place of a program on the PATH: a shell searches all of them. */
export function candidatesOf(name: string, path: string): string[] {
  if (isAbsolute(name)) return [name];
  if (name.includes('/')) return [];
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name));
}

function isReadable(path: string): boolean {
  try {
    realpathSync(path);
    return true;
  } catch {
    return false;
  }
}
