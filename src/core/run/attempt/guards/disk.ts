import { readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../../../util/error-code.ts';
import type { EndingRace } from '../ending.ts';
import type { DiskUsage } from '../resources/measure-folders.ts';
import type { OverLimit } from '../resources/over-limit.ts';

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

export interface DiskGuard {
  stop(): void;
  /** After the tool has ended: whether it exceeded the limit since the last look, and before the first. */
  lookAtEnd(): Promise<OverLimit | undefined>;
}

/**
 * Ends the attempt when the tool's files in the run's folders exceed the limit (E_DISK_LIMIT), or before they fill the disk
 * (E_DISK_FULL). The folders are walked only when the free space of the disk has changed.
 */
export function guardDisk(race: EndingRace, watch: DiskWatch): DiskGuard {
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
    const usage = await measured(watch.folders, () => isStopped);
    lastState = state;
    return overLimit(usage, watch, floor);
  };
  timer = setTimeout(look, everyMs / 4);
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
    async lookAtEnd() {
      if (watch.limitMb === undefined || spaceOf(disk)?.state === lastState) return undefined;
      if (watch.folders.every((folder) => isEmpty(folder))) return undefined;
      return overSize(await measured(watch.folders, () => false), watch);
    },
  };
}

/** Loaded late: most runs end before the first check, and leave nothing. */
async function measured(folders: readonly string[], isStopped: () => boolean): Promise<DiskUsage> {
  const { measureFolders } = await import('../resources/measure-folders.ts');
  return measureFolders(folders, { maxEntries: MAX_ENTRIES, isStopped });
}

/** Whether a folder is not there, or has at most empty folders, as ACOR makes them for each tool. */
function isEmpty(folder: string, depth = 1): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).every(
      (entry) => depth > 0 && entry.isDirectory() && isEmpty(join(folder, entry.name), depth - 1),
    );
  } catch (error) {
    return errorCode(error) === 'ENOENT';
  }
}

function overLimit(usage: DiskUsage, watch: DiskWatch, floor: number): OverLimit | undefined {
  const { bytes, entries } = usage;
  const large = overSize(usage, watch);
  if (large !== undefined) return large;
  if (entries >= MAX_ENTRIES) return tooMany('the folders of its run', entries, MAX_ENTRIES);
  const free = spaceOf(watch.folders[0])?.free;
  if (free === undefined || free >= floor || bytes < LEAST_BLAME_BYTES) return undefined;
  const [freeMb, allowed] = [free, floor].map((each) => Math.floor(each / MB)) as [number, number];
  return { kind: 'over-limit', limit: 'free_space', freeMb, allowed, used: Math.round(bytes / MB) };
}

function overSize({ bytes }: DiskUsage, { limitMb }: DiskWatch): OverLimit | undefined {
  const used = bytes / MB;
  if (limitMb === undefined || used <= limitMb) return undefined;
  return { kind: 'over-limit', limit: 'disk_mb', used, allowed: limitMb };
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
