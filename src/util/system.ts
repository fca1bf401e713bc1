import { readFileSync } from 'node:fs';

/** `node:os`, loaded when something asks for it: that takes 0.3 ms, and most commands need nothing of it. */
export function os(): typeof import('node:os') {
  return process.getBuiltinModule('node:os');
}

/** The folder for temporary files, as `os.tmpdir()` names it. */
export function tempFolder(): string {
  if (process.platform === 'win32') return os().tmpdir();
  const { TMPDIR, TMP, TEMP } = process.env;
  const named = TMPDIR || TMP || TEMP || '/tmp';
  return named.length > 1 && named.endsWith('/') ? named.slice(0, -1) : named;
}

/** How many processors this program may use, as `os.availableParallelism()` counts them. */
export function processors(): number {
  return globalThis.navigator?.hardwareConcurrency ?? os().availableParallelism();
}

let release: string | undefined;

/** The version of the kernel, as `os.release()` names it. */
export function kernelRelease(): string {
  release ??= readRelease();
  return release;
}

function readRelease(): string {
  try {
    return readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim();
  } catch {
    return os().release();
  }
}
