import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { EndingRace } from '../ending.ts';
import type { StopGuard } from './guard.ts';

const POLL_MS = 500;

/** Ends the attempt when somebody has put the cancel file in place; the file holds the reason (contract §3). */
export function guardCancelFile(race: EndingRace, path: string): StopGuard {
  const look = () => {
    const reason = readCancelReason(path);
    if (reason !== undefined) race.end({ kind: 'cancelled', reason });
  };
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), look);
  } catch {
    // Without a watch the timer alone finds it.
  }
  const timer = setInterval(look, POLL_MS);
  look();
  return () => {
    watcher?.close();
    clearInterval(timer);
  };
}

/** Why a run is to be cancelled; undefined when nobody asked for it. */
export function readCancelReason(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || 'cancelled';
  } catch {
    return undefined;
  }
}
