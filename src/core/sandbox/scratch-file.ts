import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { writeFully } from '../../util/atomic-write.ts';
import { newSpanId } from '../../util/ids.ts';
import { loadedRuntime } from '../process/load-runtime.ts';
import type { Runtime } from '../process/runtime.ts';

/**
 * A descriptor from which a value of up to 64 KiB can be read once. The value is in a pipe, in kernel memory. Only when
 * no pipe of sufficient size is available, it is in an unlinked file in `folder`, which no tool sees.
 */
export function heldValue(runtime: Runtime, folder: string, bytes: Uint8Array): number {
  return inPipe(runtime, folder, bytes) ?? scratchFile(folder, bytes);
}

function inPipe(runtime: Runtime, folder: string, bytes: Uint8Array): number | undefined {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const path = join(folder, `pipe-${newSpanId()}`);
  // In this order, neither open blocks.
  const open = (mode: number) => openSync(path, mode | O_NONBLOCK | O_NOFOLLOW);
  let reader: number | undefined;
  let writer: number | undefined;
  let isHeld = false;
  try {
    runtime.makeFifo(path);
    reader = open(O_RDONLY);
    writer = open(O_WRONLY);
    isHeld = writeSync(writer, bytes) === bytes.length;
    return isHeld ? reader : undefined;
  } catch {
    // A file system without FIFOs, or a user with too many pipes.
    return undefined;
  } finally {
    if (writer !== undefined) closeSync(writer);
    if (reader !== undefined && !isHeld) closeSync(reader);
    rmSync(path, { force: true });
  }
}

/**
 * Opens a file without a name with `data`, which the process that gets the descriptor reads from its beginning. It is in memory, because a
 * file system takes up to 80 times as long to make one, or, where memory has no files, an unlinked file in `folder`.
 */
export function scratchFile(folder: string, data: string | Uint8Array = ''): number {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  return inMemory(bytes) ?? unlinked(folder, bytes);
}

function inMemory(bytes: Uint8Array): number | undefined {
  const writer = loadedRuntime()?.memoryFile();
  if (writer === undefined) return undefined;
  try {
    writeFully(writer, bytes);
    // Another description of the same file, which begins at its beginning.
    return openSync(`/proc/self/fd/${writer}`, constants.O_RDWR | constants.O_APPEND);
  } catch {
    return undefined;
  } finally {
    closeSync(writer);
  }
}

function unlinked(folder: string, bytes: Uint8Array): number {
  const path = join(folder, `scratch-${newSpanId()}`);
  const { O_RDWR, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW } = constants;
  const writer = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFully(writer, bytes);
    return openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW);
  } finally {
    closeSync(writer);
    rmSync(path, { force: true });
  }
}
