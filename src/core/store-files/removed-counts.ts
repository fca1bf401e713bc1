import { join } from 'node:path';
import type { RunRecord } from '../../protocol/run-record.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { parseObject } from '../../util/parse-object.ts';
import { readOwn, refuseLinks } from '../../util/regular-file.ts';
import type { EndCount } from '../ports/run-index.ts';
import { addCount, endCountOf } from './end-count.ts';
import { isDiskFull } from './storage-error.ts';

const FILE = 'removed-counts.json';

interface Kept {
  counts: EndCount[];
  /** Runs that were about to be removed, each with its count: they count once they are gone, and a removal that was killed is repeated. */
  pending: Record<string, EndCount>;
}

/**
 * Counts runs that are about to be removed, so that counters over all runs do not fall. On a full disk the count is lost, because removing runs is
 * what makes room.
 */
export async function keepCounts(
  root: string,
  records: readonly RunRecord[],
  exists: (runId: string) => boolean,
): Promise<void> {
  const removed = records.flatMap((record) => {
    const count = endCountOf(record);
    return count === undefined ? [] : [[record.run_id, count] as const];
  });
  if (removed.length === 0) return;
  refuseLinks(root, FILE);
  try {
    await withFileLock(join(root, `${FILE}.lock`), () => {
      const { counts, pending } = read(root);
      const still = Object.entries(pending).filter(([runId]) => exists(runId));
      const gone = Object.entries(pending).flatMap(([runId, count]) => (exists(runId) ? [] : count));
      const kept: Kept = {
        counts: gone.reduce(addCount, counts),
        pending: Object.fromEntries([...still, ...removed]),
      };
      writeAtomic(join(root, FILE), JSON.stringify(kept), { durable: true });
    });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** The counts of removed runs, by tool and state. `exists` shows which runs are still there, after a removal that was killed. */
export function removedCounts(root: string, exists: (runId: string) => boolean): EndCount[] {
  const { counts, pending } = read(root);
  const gone = Object.entries(pending).flatMap(([runId, count]) => (exists(runId) ? [] : count));
  return gone.reduce(addCount, counts);
}

function read(root: string): Kept {
  try {
    const { counts, pending } = (parseObject(readOwn(join(root, FILE)).toString()) ?? {}) as Partial<Kept>;
    return { counts: counts ?? [], pending: pending ?? {} };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { counts: [], pending: {} };
    throw error;
  }
}
