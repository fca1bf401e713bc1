import { readFileSync } from 'node:fs';

// `node:os` takes 0.3 ms to load, so only a system without these loads it.

/** The folder for temporary files, as `os.tmpdir()` names it. */
export function tempFolder(): string {
  if (process.platform === 'win32') return process.getBuiltinModule('node:os').tmpdir();
  const { TMPDIR, TMP, TEMP } = process.env;
  const named = TMPDIR || TMP || TEMP || '/tmp';
  return named.length > 1 && named.endsWith('/') ? named.slice(0, -1) : named;
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
    return process.getBuiltinModule('node:os').release();
  }
}
