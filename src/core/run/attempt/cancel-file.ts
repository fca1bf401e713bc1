import { rmSync } from 'node:fs';
import { writeEvenOnFullDisk } from '../../../util/atomic-write.ts';
import type { RunWorkspace } from '../workspace.ts';

/** Asks the tool to stop by writing the cancel file (contract §3). On a full disk the write may fail: the signal follows anyway. */
export function putCancelFile({ cancelFile }: RunWorkspace, reason: string): void {
  try {
    writeEvenOnFullDisk(cancelFile, `${reason}\n`);
  } catch {}
}

/** Removes the cancel request of the previous attempt, so that it does not stop the next one. */
export function removeCancelFile({ cancelFile }: RunWorkspace): void {
  rmSync(cancelFile, { force: true });
}
