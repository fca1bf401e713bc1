import { rmSync } from 'node:fs';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { errorCode } from '../../../util/error-code.ts';
import { readOwn } from '../../../util/regular-file.ts';
import { foreignRecord, isOwnRecord, signedRecord } from '../../config/own-records.ts';
import type { RunHost, RunWorkspace } from '../workspace.ts';

/** A path that a live run's user owns, and its original owner. */
export interface OwnedPath {
  path: string;
  /** Whether it includes everything below the path. */
  isDeep: boolean;
  /** Whether it is one of the run's own folders, which no other run uses. */
  isOwn: boolean;
  uid: number;
  gid: number;
  /** Entries below it that had a different original owner: identity (`identityOf`) to owner and group. */
  others: Record<string, [uid: number, gid: number]>;
}

/** The user that a root supervisor assigned to a run, and the paths of that user. Written to disk before the first `chown`. */
export interface OwnershipRecord {
  uid: number;
  gid: number;
  paths: OwnedPath[];
}

/** Throws E_INTEGRITY for a record that ACOR has not written: it would name files of others, and any user for them. */
export function readOwnershipRecord({ ownershipRecord: path }: RunWorkspace): OwnershipRecord | undefined {
  let text: string;
  try {
    text = readOwn(path).toString();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (!isOwnRecord(path, text)) throw foreignRecord(path, 'no file gets another owner by it');
  return JSON.parse(text) as OwnershipRecord;
}

export function writeOwnershipRecord(layout: RunWorkspace, owned: OwnershipRecord): void {
  // After a machine crash the run's own folders are known without this record, so they need no fsync.
  const durable = owned.paths.some(({ isOwn }) => !isOwn);
  const text = signedRecord(layout.ownershipRecord, owned, { lasts: false });
  writeAtomic(layout.ownershipRecord, text, { durable, mode: 0o600 });
}

export function removeOwnershipRecord(layout: RunWorkspace): void {
  rmSync(layout.ownershipRecord, { force: true });
}

/** What the other live runs own, and the lost runs that are not recovered yet. Ended runs own nothing. */
export async function ownershipOfOtherRuns(
  { store, workspaces }: RunHost,
  runId: string,
): Promise<{ runId: string; owned: OwnershipRecord; isLive: boolean }[]> {
  const others = (await store.leases.list()).filter((lease) => lease.runId !== runId);
  return others.flatMap((other) => {
    try {
      const owned = readOwnershipRecord(workspaces.of(other.runId));
      return owned === undefined ? [] : [{ runId: other.runId, owned, isLive: other.state === 'live' }];
    } catch {
      // Another process removed the run meanwhile, or its record cannot be read.
      return [];
    }
  });
}
