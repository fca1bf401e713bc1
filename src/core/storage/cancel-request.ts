import { existsSync } from 'node:fs';
import { writeAtomic } from '../../util/atomic-write.ts';
import type { RunLayout } from './layout.ts';
import { storageError } from './storage-error.ts';

/** Asks a run's supervisor to end it. The first reason stays; `now` asks for no more grace. */
export function requestCancel(layout: RunLayout, reason: string, options: { now?: boolean } = {}): void {
  try {
    if (!existsSync(layout.cancelRequest)) writeAtomic(layout.cancelRequest, `${reason}\n`);
    if (options.now) writeAtomic(layout.hurryFile, `${reason}\n`);
  } catch (error) {
    throw storageError(error, 'ask the run to end', layout.cancelRequest);
  }
}

/** Puts the file in place that tells the tool that it is to end, and why. */
export function writeCancelFile(layout: RunLayout, reason: string): void {
  writeAtomic(layout.cancelFile, `${reason}\n`, { mode: 0o644 });
}
