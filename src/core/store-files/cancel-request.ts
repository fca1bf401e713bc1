import { existsSync } from 'node:fs';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import type { RunLayout } from './layout.ts';
import { storageError } from './storage-error.ts';

/** Asks a run's supervisor to end it. The first reason stays; `now` asks for no more grace. */
export function requestCancel(layout: RunLayout, reason: string, options: { now?: boolean } = {}): void {
  try {
    if (!existsSync(layout.cancelRequest)) putEvenOnFullDisk(layout.cancelRequest, reason);
    if (options.now) putEvenOnFullDisk(layout.forceCancelFile, reason);
  } catch (error) {
    throw storageError(error, 'ask the run to end', layout.cancelRequest);
  }
}

/** Puts the file in place that tells the tool that it is to end, and why. */
export function writeCancelFile(layout: RunLayout, reason: string): void {
  putEvenOnFullDisk(layout.cancelFile, reason);
}

/** The name alone is what counts, and mostly there is room for it where there is none for the reason: a full disk must not keep a run from being stopped. */
function putEvenOnFullDisk(path: string, reason: string): void {
  try {
    writeAtomic(path, `${reason}\n`, { mode: 0o644 });
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC' && errorCode(error) !== 'EDQUOT') throw error;
    writeAtomic(path, '', { mode: 0o644 });
  }
}
