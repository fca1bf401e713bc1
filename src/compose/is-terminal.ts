import { fstatSync } from 'node:fs';
import { isMemoryDevice } from '../util/files.ts';

/** Whether a descriptor is a terminal; false for a closed one. `node:tty` takes 3 ms to load, so it is asked only about what can be one. */
export async function isTerminal(fd: number): Promise<boolean> {
  try {
    const stats = fstatSync(fd);
    if (!stats.isCharacterDevice() || isMemoryDevice(stats)) return false;
    return (await import('node:tty')).isatty(fd);
  } catch {
    return false;
  }
}
