import { fstatSync } from 'node:fs';

/** Linux: the memory devices, such as /dev/null. Its terminals have other numbers. */
const MEMORY_DEVICES = 1;

/** Whether a descriptor is a terminal; false for a closed one. `node:tty` takes 3 ms to load, so it is asked only about what can be one. */
export async function isTerminal(fd: number): Promise<boolean> {
  try {
    const stats = fstatSync(fd);
    if (!stats.isCharacterDevice()) return false;
    if (process.platform === 'linux' && stats.rdev >> 8 === MEMORY_DEVICES) return false;
    return (await import('node:tty')).isatty(fd);
  } catch {
    return false;
  }
}
