import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FolderWatch } from '../../util/folder-watch.ts';
import { leasesFolder } from './file-leases.ts';

/** What is written on each change of a run. */
const FILES = ['events.jsonl', 'metadata.json'];

/**
 * Reports the live runs of a store whenever they start, write an event or end, without polling. `onLedger` is called when runs ended or
 * were removed. Returns the function that stops it.
 */
export function watchRuns(
  root: string,
  onChange: (runId: string) => void,
  onLedger: () => void = () => {},
): () => void {
  const leases = leasesFolder(root);
  const ledger = join(root, 'ledger.jsonl');
  let live = new Set<string>();
  const watch = new FolderWatch((path) => {
    const folder = dirname(path);
    if (dirname(folder) === root && folder !== leases) {
      if (FILES.includes(basename(path))) onChange(basename(folder));
      return;
    }
    if (path === ledger) return onLedger();
    // Beside the runs are the files of the index, which each query may write; beside the store is whatever a program writes there.
    if ([path, folder].includes(leases) || path === root || path === dirname(root) || isRun(path)) look();
  });
  // The folders of the store may not exist yet.
  const look = () => {
    const now = liveRuns(leases);
    const changed = [...now, ...live].filter((run) => now.has(run) !== live.has(run));
    live = now;
    const folders = [...now].map((run) => join(root, run));
    const { hasNew } = watch.set([dirname(root), root, leases, ...folders]);
    for (const run of changed) onChange(run);
    if (hasNew) look();
  };
  look();
  return () => watch.close();
}

function isRun(path: string): boolean {
  return basename(path).startsWith('r-');
}

function liveRuns(leases: string): Set<string> {
  try {
    // A lease has the name <run>@<epoch>.
    return new Set(readdirSync(leases).flatMap((name) => (name.startsWith('r-') ? name.split('@', 1) : [])));
  } catch {
    return new Set();
  }
}
