import { existsSync, readFileSync, rmSync } from 'node:fs';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import type { RunLayout } from './layout.ts';
import { isLive } from './lost-runs.ts';
import type { RunStore } from './run-store.ts';

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

export function readOwnershipRecord(layout: RunLayout): OwnershipRecord | undefined {
  try {
    return JSON.parse(readFileSync(layout.ownershipRecord, 'utf8')) as OwnershipRecord;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function writeOwnershipRecord(layout: RunLayout, handed: OwnershipRecord): void {
  // The run's own folders can be told without it after a crash of the machine.
  const durable = handed.paths.some(({ isOwn }) => !isOwn);
  writeAtomic(layout.ownershipRecord, JSON.stringify(handed), { durable, mode: 0o600 });
}

export function removeOwnershipRecord(layout: RunLayout): void {
  rmSync(layout.ownershipRecord, { force: true });
}

/** What other runs of the store have been given: by those that go on, and by those whose supervisor is gone. */
export function ownershipOfOtherRuns(
  store: RunStore,
  runId: string,
): { runId: string; handed: OwnershipRecord; isLive: boolean }[] {
  return store.list().flatMap((other) => {
    if (other === runId || !existsSync(store.layout(other).ownershipRecord)) return [];
    try {
      const handed = readOwnershipRecord(store.layout(other));
      return handed === undefined ? [] : [{ runId: other, handed, isLive: isLive(store.read(other)) }];
    } catch {
      // Removed meanwhile, or no run at all.
      return [];
    }
  });
}
