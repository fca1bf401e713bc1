import { fstatSync, readFileSync, readlinkSync } from 'node:fs';

/** FIONREAD of Linux: how many bytes a pipe or a socket holds. A poll reports an end like data. */
const FIONREAD = 0x541b;
/** Node has no ioctl. */
const COUNT = `ioctl(STDIN, ${FIONREAD}, my $held = pack("i", 0)) or exit 1; exit(unpack("i", $held) ? 0 : 1)`;

/**
 * Whether standard input is a file, a pipe or a socket with bytes that are not read yet, or a pipe into which a program beside this one may
 * still write. It reads none: they may be for the caller's own loop.
 */
export async function hasUnreadStdin(): Promise<boolean> {
  try {
    const stats = fstatSync(0);
    if (stats.isFile()) return position() < stats.size;
    if (!(stats.isFIFO() || stats.isSocket()) || process.platform !== 'linux') return false;
    return (await holdsBytes()) || (stats.isFIFO() && isWrittenBeside(stats.ino));
  } catch {
    // Closed, or without /proc, or without the C library of this name.
    return false;
  }
}

/** Whether the pipe is the output of another command of the same pipeline: the shell that started both is their parent. An idle pipe of a parent is not. */
function isWrittenBeside(inode: number): boolean {
  const parent = process.ppid;
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ');
  return children.some((pid) => pid !== `${process.pid}` && outputOf(pid) === `pipe:[${inode}]`);
}

function outputOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/1`);
  } catch {
    // It has exited, or belongs to another user.
    return undefined;
  }
}

async function holdsBytes(): Promise<boolean> {
  if (process.versions.bun !== undefined) return (await heldBytes()) > 0;
  // Loaded late: it takes 0.8 ms to load.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  return spawnSync('/usr/bin/perl', ['-e', COUNT], { stdio: ['inherit', 'ignore', 'ignore'] }).status === 0;
}

/** Without a process: starting one takes longer than the rest of a short call. */
async function heldBytes(): Promise<number> {
  const { dlopen, FFIType } = await import('bun:ffi');
  const { symbols } = dlopen('libc.so.6', {
    ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
  });
  const held = new Int32Array(1);
  return symbols.ioctl(0, FIONREAD, held) === 0 ? held[0]! : 0;
}

function position(): number {
  return Number(/^pos:\s*(\d+)/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1]);
}
