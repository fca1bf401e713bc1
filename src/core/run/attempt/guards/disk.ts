import { statfsSync } from 'node:fs';
import type { EndingRace } from '../ending.ts';
import type { DiskUsage } from '../resources/measure-folders.ts';
import type { OverLimit } from '../resources/over-limit.ts';
import type { StopGuard } from './guard.ts';

const MB = 1_000_000;
const EVERY_MS = 1000;
/** The walk takes at most one part in this many of the time. */
const COST_SHARE = 20;
/** So much stays free for everybody else; on a disk that has less at the start, half of what there is. */
const FLOOR_BYTES = 50 * MB;
/** Who has written less than this is not to blame for a full disk. */
const LEAST_BLAME_BYTES = MB;
const MAX_ENTRIES = 500_000;
/** Each empty file in memory takes about 1 KB of the kernel's, which no size of /tmp limits. */
const MAX_MEMORY_ENTRIES = 50_000;

export interface DiskWatch {
  /** What the tool may write in its run; the first one tells which disk it is. */
  folders: readonly [string, ...string[]];
  limitMb: number | undefined;
  /** The tool's own folders in memory, by the paths at which they can be seen from outside. */
  memoryFolders(): readonly string[];
  everyMs?: number;
}

/**
 * Holds what a tool keeps in its run's folders to a limit (E_DISK_LIMIT), and ends it before it has filled the disk for everybody
 * (E_DISK_FULL). Folders are walked only when something on the disk has changed.
 */
export function guardDisk(race: EndingRace, watch: DiskWatch): StopGuard {
  const everyMs = watch.everyMs ?? EVERY_MS;
  const [disk] = watch.folders;
  const floor = Math.min(FLOOR_BYTES, (spaceOf(disk)?.free ?? 0) / 2);
  let isStopped = false;
  let timer: NodeJS.Timeout;
  let lastState: string | undefined;
  const look = async () => {
    const begunMs = performance.now();
    const over = crowded(watch.memoryFolders()) ?? (await onDisk());
    if (isStopped) return;
    if (over !== undefined) race.end(over);
    else timer = setTimeout(look, Math.max(everyMs, (performance.now() - begunMs) * COST_SHARE));
  };
  const onDisk = async (): Promise<OverLimit | undefined> => {
    const state = spaceOf(disk)?.state;
    if (state === lastState) return undefined;
    lastState = state;
    // Most runs are over before anybody looks.
    const { measureFolders } = await import('../resources/measure-folders.ts');
    const usage = await measureFolders(watch.folders, {
      maxEntries: MAX_ENTRIES,
      isStopped: () => isStopped,
    });
    return overLimit(usage, watch, floor);
  };
  timer = setTimeout(look, everyMs / 4);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

function overLimit(
  { bytes, entries }: DiskUsage,
  { folders, limitMb }: DiskWatch,
  floor: number,
): OverLimit | undefined {
  const used = bytes / MB;
  if (limitMb !== undefined && used > limitMb)
    return { kind: 'over-limit', limit: 'disk_mb', used, allowed: limitMb };
  if (entries >= MAX_ENTRIES) return tooMany('the folders of its run', entries, MAX_ENTRIES);
  const free = spaceOf(folders[0])?.free;
  if (free === undefined || free >= floor || bytes < LEAST_BLAME_BYTES) return undefined;
  const [freeMb, allowed] = [free, floor].map((each) => Math.floor(each / MB)) as [number, number];
  return { kind: 'over-limit', limit: 'free_space', freeMb, allowed, used: Math.round(used) };
}

function crowded(folders: readonly string[]): OverLimit | undefined {
  for (const folder of folders) {
    const entries = spaceOf(folder)?.entries ?? 0;
    if (entries > MAX_MEMORY_ENTRIES)
      return tooMany(folder.slice(folder.indexOf('/root/') + '/root'.length), entries, MAX_MEMORY_ENTRIES);
  }
  return undefined;
}

function tooMany(where: string, used: number, allowed: number): OverLimit {
  return { kind: 'over-limit', limit: 'entries', where, used, allowed };
}

interface Space {
  free: number;
  entries: number;
  /** Changes whenever anything is written to or taken from the disk. */
  state: string;
}

/** Undefined when the folder is gone, or not for this user to see. */
function spaceOf(folder: string): Space | undefined {
  try {
    const { bavail, bsize, bfree, files, ffree } = statfsSync(folder);
    return { free: bavail * bsize, entries: files - ffree, state: `${bfree} ${ffree}` };
  } catch {
    return undefined;
  }
}
