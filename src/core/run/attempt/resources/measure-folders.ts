import { errorCode } from '../../../../util/error-code.ts';
import { OpenFolder } from '../../../../util/open-folder.ts';
import { pause } from '../../../../util/pause.ts';
import { type TreeStep, walkTree } from '../../../../util/walk-tree.ts';

export interface DiskUsage {
  bytes: number;
  /** At most `maxEntries`. */
  entries: number;
}

/** The longest time that the walk blocks the event loop. */
const SLICE_MS = 4;
const REST_MS = 4;
const ENTRIES_A_LOOK = 32;
const BLOCK_BYTES = 512;

/**
 * Measures the disk space that folders use, in allocated blocks: holes of sparse files take no space, and a file with several hard links
 * counts once. Symbolic links are not followed. The walk pauses between slices, so that it does not block the supervisor.
 */
export async function measureFolders(
  folders: readonly string[],
  options: { maxEntries: number; isStopped: () => boolean },
): Promise<DiskUsage> {
  const usage: DiskUsage = { bytes: 0, entries: 0 };
  const seen = new Set<number>();
  let sliceEndMs = performance.now() + SLICE_MS;
  for (const path of folders) {
    using folder = openIfThere(path);
    if (folder === undefined) continue;
    for (const step of walkWhileItChanges(folder)) {
      if (step.kind === 'left') continue;
      if (usage.entries % ENTRIES_A_LOOK === 0 && performance.now() > sliceEndMs) {
        await pause(REST_MS);
        sliceEndMs = performance.now() + SLICE_MS;
      }
      if (usage.entries >= options.maxEntries || options.isStopped()) return usage;
      const { stats } = step;
      usage.entries++;
      if (step.kind === 'entry' && stats.nlink > 1) {
        if (seen.has(stats.ino)) continue;
        seen.add(stats.ino);
      }
      usage.bytes += stats.blocks * BLOCK_BYTES;
    }
  }
  return usage;
}

/** The tool is at work: a folder that it removes, closes or moves is left out, and the next look counts it. */
function* walkWhileItChanges(folder: OpenFolder): Generator<TreeStep, void, void> {
  try {
    yield* walkTree(folder, { onError() {} });
  } catch (error) {
    if (errorCode(error) !== 'ESTALE' && errorCode(error) !== 'ENOENT') throw error;
  }
}

function openIfThere(path: string): OpenFolder | undefined {
  try {
    return OpenFolder.trusted(path);
  } catch {
    return undefined;
  }
}
