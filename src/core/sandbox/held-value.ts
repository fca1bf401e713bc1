import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newSpanId } from '../../util/ids.ts';
import type { Runtime } from '../process/runtime.ts';
import { scratchFile } from './scratch-file.ts';

/**
 * A descriptor from which a value can be read once, up to what a pipe takes (64 KiB). It lies in the memory of the kernel; only where no
 * pipe can be had, or none that is large enough, in a file without a name. `folder` is one that no tool sees.
 */
export function heldValue(runtime: Runtime, folder: string, bytes: Uint8Array): number {
  return inPipe(runtime, folder, bytes) ?? scratchFile(folder, bytes);
}

function inPipe(runtime: Runtime, folder: string, bytes: Uint8Array): number | undefined {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const path = join(folder, `pipe-${newSpanId()}`);
  // In this order neither opening waits for the other end.
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
    // A file system without pipes, or a user who has too many of them.
    return undefined;
  } finally {
    if (writer !== undefined) closeSync(writer);
    if (reader !== undefined && !isHeld) closeSync(reader);
    rmSync(path, { force: true });
  }
}
