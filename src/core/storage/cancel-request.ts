import { existsSync } from 'node:fs';
import { writeAtomic } from '../../util/atomic-write.ts';
import type { RunLayout } from './layout.ts';
import { storageError } from './storage-error.ts';

/** Puts the cancel file in place, which the run's supervisor and its tool both look for. The first reason stays; `now` asks for no more grace. */
export function requestCancel(layout: RunLayout, reason: string, options: { now?: boolean } = {}): void {
  try {
    if (!existsSync(layout.cancelFile)) writeAtomic(layout.cancelFile, `${reason}\n`);
    if (options.now) writeAtomic(layout.hurryFile, `${reason}\n`);
  } catch (error) {
    throw storageError(error, 'ask the run to end', layout.cancelFile);
  }
}
