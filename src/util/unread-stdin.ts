import { spawnSync } from 'node:child_process';
import { fstatSync, readFileSync } from 'node:fs';

/** FIONREAD of Linux: how many bytes a pipe or a socket holds. Neither Bun nor Node offers it, and a poll reports an end like data. */
const COUNT = 'ioctl(STDIN, 0x541B, my $held = pack("i", 0)) or exit 1; exit(unpack("i", $held) ? 0 : 1)';

/** Whether standard input is a file, a pipe or a socket with bytes that are not read yet. It reads none: they may be for the caller's own loop. */
export function hasUnreadStdin(): boolean {
  try {
    const stats = fstatSync(0);
    if (stats.isFile()) return position() < stats.size;
    if (!(stats.isFIFO() || stats.isSocket()) || process.platform !== 'linux') return false;
    return spawnSync('perl', ['-e', COUNT], { stdio: ['inherit', 'ignore', 'ignore'] }).status === 0;
  } catch {
    // Closed, or without /proc.
    return false;
  }
}

function position(): number {
  return Number(/^pos:\s*(\d+)/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1]);
}
