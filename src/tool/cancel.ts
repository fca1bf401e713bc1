import { existsSync, readFileSync } from 'node:fs';
import { emitter } from './emit.ts';

const EXIT_CANCELLED = 130;

/** Whether the runner asked this tool to stop (contract §3); cheap enough to call in a loop. */
export function cancelled(): boolean {
  const cancelFile = process.env['CANCEL_FILE'];
  return cancelFile !== undefined && cancelFile !== '' && existsSync(cancelFile);
}

/** Call it between batches: after a cancel request it emits `cancelled` and exits with 130. */
export function checkCancel(): void {
  if (!cancelled()) return;
  if (!emitter.ended) emitter.emitCancelled(cancelReason());
  process.exit(EXIT_CANCELLED);
}

function cancelReason(): string {
  try {
    return readFileSync(process.env['CANCEL_FILE'] ?? '', 'utf8').trim() || 'cancel-file';
  } catch {
    return 'cancel-file';
  }
}
