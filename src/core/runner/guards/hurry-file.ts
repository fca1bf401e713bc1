import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { StopGuard } from './guard.ts';

const POLL_MS = 500;

/** Calls back once when somebody asks for the end without any more grace. */
export function watchHurryFile(path: string, hurryUp: () => void): StopGuard {
  const look = () => {
    if (existsSync(path)) hurryUp();
  };
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), look);
  } catch {
    // Without a watch the timer alone finds it.
  }
  const timer = setInterval(look, POLL_MS);
  return () => {
    watcher?.close();
    clearInterval(timer);
  };
}
