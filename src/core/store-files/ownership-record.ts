import { existsSync, readFileSync, rmSync } from 'node:fs';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import type { RunLayout } from './layout.ts';
import { isLive } from './lost-runs.ts';
import type { RunStore } from './run-store.ts';

/** A path that belongs to a run's own user for now, and whose it was. */
export interface HandedPath {
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
export interface HandedOver {
  uid: number;
  gid: number;
  paths: HandedPath[];
}

export function readHandedOver(layout: RunLayout): HandedOver | undefined {
  try {
    return JSON.parse(readFileSync(layout.handedOver, 'utf8')) as HandedOver;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function writeHandedOver(layout: RunLayout, handed: HandedOver): void {
  // The run's own folders can be told without it after a crash of the machine.
  const durable = handed.paths.some(({ isOwn }) => !isOwn);
  writeAtomic(layout.handedOver, JSON.stringify(handed), { durable, mode: 0o600 });
}

export function removeHandedOver(layout: RunLayout): void {
  rmSync(layout.handedOver, { force: true });
}

/** What other runs of the store have been given: by those that go on, and by those whose supervisor is gone. */
export function handedToOthers(
  store: RunStore,
  runId: string,
): { runId: string; handed: HandedOver; isLive: boolean }[] {
  return store.list().flatMap((other) => {
    if (other === runId || !existsSync(store.layout(other).handedOver)) return [];
    try {
      const handed = readHandedOver(store.layout(other));
      return handed === undefined ? [] : [{ runId: other, handed, isLive: isLive(store.read(other)) }];
    } catch {
      // Removed meanwhile, or no run at all.
      return [];
    }
  });
}
