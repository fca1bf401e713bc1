import { readdirSync, readFileSync } from 'node:fs';

/** How many paths this process watches by inotify. */
export function watchedPaths(): number {
  let count = 0;
  for (const fd of readdirSync('/proc/self/fdinfo')) {
    try {
      count += readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^inotify wd:/gm)?.length ?? 0;
    } catch {
      // The descriptor of the list itself.
    }
  }
  return count;
}
