import { existsSync } from 'node:fs';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import type { RunLayout } from './layout.ts';
import { storageError } from './storage-error.ts';

/** Puts the cancel file in place, which the run's supervisor and its tool both look for. The first reason stays; `now` asks for no more grace. */
export function requestCancel(layout: RunLayout, reason: string, options: { now?: boolean } = {}): void {
  try {
    if (!existsSync(layout.cancelFile)) putEvenOnFullDisk(layout.cancelFile, reason);
    if (options.now) putEvenOnFullDisk(layout.hurryFile, reason);
  } catch (error) {
    throw storageError(error, 'ask the run to end', layout.cancelFile);
  }
}

/** The name alone is what counts, and mostly there is room for it where there is none for the reason: a full disk must not keep a run from being stopped. */
function putEvenOnFullDisk(path: string, reason: string): void {
  try {
    writeAtomic(path, `${reason}\n`);
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC' && errorCode(error) !== 'EDQUOT') throw error;
    writeAtomic(path, '');
  }
}
