import { rmSync } from 'node:fs';
import { writeEvenOnFullDisk } from '../../../util/atomic-write.ts';
import type { RunWorkspace } from '../workspace.ts';

/** Asks the tool to end by the cancel file (contract §3). On a full disk the file may not be made: the signal follows anyway. */
export function putCancelFile({ cancelFile }: RunWorkspace, reason: string): void {
  try {
    writeEvenOnFullDisk(cancelFile, `${reason}\n`);
  } catch {}
}

/** The next attempt must not find the request that ended the one before it. */
export function removeCancelFile({ cancelFile }: RunWorkspace): void {
  rmSync(cancelFile, { force: true });
}
