import { readFileSync, rmSync } from 'node:fs';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { errorCode } from '../../../util/error-code.ts';
import type { RunHost, RunWorkspace } from '../workspace.ts';

/** A path that belongs to a run's own user for now, and whose it was. */
export interface OwnedPath {
  path: string;
  /** With all that is below it. */
  isDeep: boolean;
  /** Whether it is one of the run's own folders, which no other run uses. */
  isOwn: boolean;
  uid: number;
  gid: number;
  /** What below it was somebody else's: inode to owner and group. */
  others: Record<string, [uid: number, gid: number]>;
}

/** What a run that root supervises has been given to work with. It is on the disk before the first owner is changed. */
export interface OwnershipRecord {
  uid: number;
  gid: number;
  paths: OwnedPath[];
}

export function readOwnershipRecord(layout: RunWorkspace): OwnershipRecord | undefined {
  try {
    return JSON.parse(readFileSync(layout.ownershipRecord, 'utf8')) as OwnershipRecord;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function writeOwnershipRecord(layout: RunWorkspace, handed: OwnershipRecord): void {
  // The run's own folders can be told without it after a crash of the machine.
  const durable = handed.paths.some(({ isOwn }) => !isOwn);
  writeAtomic(layout.ownershipRecord, JSON.stringify(handed), { durable, mode: 0o600 });
}

export function removeOwnershipRecord(layout: RunWorkspace): void {
  rmSync(layout.ownershipRecord, { force: true });
}

/** What other runs own: runs that are live, and runs that are lost and not recovered yet. Ended runs own nothing. */
export async function ownershipOfOtherRuns(
  { store, workspaces }: RunHost,
  runId: string,
): Promise<{ runId: string; handed: OwnershipRecord; isLive: boolean }[]> {
  const others = (await store.leases.list()).filter((lease) => lease.runId !== runId);
  return others.flatMap((other) => {
    try {
      const handed = readOwnershipRecord(workspaces.of(other.runId));
      return handed === undefined ? [] : [{ runId: other.runId, handed, isLive: other.state === 'live' }];
    } catch {
      // The run was removed meanwhile, or its record cannot be read.
      return [];
    }
  });
}
