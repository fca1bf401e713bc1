import { lstatSync, readdirSync, type Stats } from 'node:fs';

export interface DiskUsage {
  bytes: number;
  /** Not more than the walk was to look at. */
  entries: number;
}

/** So long nothing else of this process is kept waiting. */
const SLICE_MS = 4;
const REST_MS = 4;
const ENTRIES_A_LOOK = 32;
const BLOCK_BYTES = 512;

/**
 * What folders take up on the disk, as the disk has it: holes take nothing, and a file with many names counts once. No link is
 * followed. It is done bit by bit, so that the run's other work goes on.
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
    // The name is longer than any path may be.
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It was removed on the way, or closed to this user.
    return [];
  }
}
