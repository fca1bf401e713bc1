import { statfsSync } from 'node:fs';
import type { EndingRace } from '../ending.ts';
import type { DiskUsage } from '../resources/measure-folders.ts';
import type { OverLimit } from '../resources/over-limit.ts';
import type { StopGuard } from './guard.ts';

const MB = 1_000_000;
const EVERY_MS = 1000;
/** Walking the folders takes at most 1/20 of the time. */
const COST_SHARE = 20;
/** The space that must stay free for other programs; if less is free at the start, half of that. */
const FLOOR_BYTES = 50 * MB;
/** A tool that has written less than this did not fill the disk. */
const LEAST_BLAME_BYTES = MB;
const MAX_ENTRIES = 500_000;
/** Each empty file on a tmpfs takes about 1 KB of kernel memory, which the size of the tmpfs does not limit. */
const MAX_MEMORY_ENTRIES = 50_000;

export interface DiskWatch {
  /** The run's folders that the tool may write. The free space of the first one's disk is watched. */
  folders: readonly [string, ...string[]];
  limitMb: number | undefined;
  /** The tool's private tmpfs folders, by their paths outside of the sandbox. */
  memoryFolders(): readonly string[];
  everyMs?: number;
}

/**
 * Ends the attempt when the tool's files in the run's folders exceed the limit (E_DISK_LIMIT), or before they fill the disk
 * (E_DISK_FULL). The folders are walked only when the free space of the disk has changed.
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
    const over = tooManyEntries(watch.memoryFolders()) ?? (await onDisk());
    if (isStopped) return;
    if (over !== undefined) race.end(over);
    else timer = setTimeout(look, Math.max(everyMs, (performance.now() - begunMs) * COST_SHARE));
  };
  const onDisk = async (): Promise<OverLimit | undefined> => {
    const state = spaceOf(disk)?.state;
    if (state === lastState) return undefined;
    lastState = state;
    // Loaded late: most runs end before the first check.
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

function tooManyEntries(folders: readonly string[]): OverLimit | undefined {
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
  /** Changes with every write to the disk and every removal. */
  state: string;
}

/** Undefined when the folder does not exist, or this user may not read it. */
function spaceOf(folder: string): Space | undefined {
  try {
    const { bavail, bsize, bfree, files, ffree } = statfsSync(folder);
    return { free: bavail * bsize, entries: files - ffree, state: `${bfree} ${ffree}` };
  } catch {
    return undefined;
  }
}
