import { lstatSync, readdirSync, type Stats } from 'node:fs';

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
  const open = [...folders];
  let sliceEndMs = performance.now() + SLICE_MS;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const name of namesIn(folder)) {
      if (usage.entries % ENTRIES_A_LOOK === 0 && performance.now() > sliceEndMs) {
        await new Promise((resolve) => setTimeout(resolve, REST_MS));
        sliceEndMs = performance.now() + SLICE_MS;
      }
      if (usage.entries >= options.maxEntries || options.isStopped()) return usage;
      const path = `${folder}/${name}`;
      const stats = statsOf(path);
      if (stats === undefined) continue;
      usage.entries++;
      if (stats.isDirectory()) open.push(path);
      else if (stats.nlink > 1 && seen.has(stats.ino)) continue;
      if (stats.nlink > 1) seen.add(stats.ino);
      usage.bytes += stats.blocks * BLOCK_BYTES;
    }
  }
  return usage;
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // The path is longer than PATH_MAX.
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The tool removed the folder during the walk, or this user may not read it.
    return [];
  }
}
