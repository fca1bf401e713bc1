import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isRunId } from '../../protocol/run.ts';
import { parseObject } from '../../util/parse-object.ts';
import type { FileRuns } from './claim-runs.ts';
import { Ledger } from './ledger.ts';
import { idsOfName } from './packed-runs.ts';

/** How the lines of ends and removals begin: a ledger may have a hundred thousand, of which few are looked for. */
const BEGIN = /^\{"type":"(run|cleaned)","run_id":"([^"]*)"/;
const BEGIN_BYTES = 80;

type Store = Pick<FileRuns, 'root' | 'files' | 'listNow'>;

/**
 * The runs that ended, that ACOR did not remove, and that are neither in a folder nor in a pack: another program removed their files. All
 * of them, or those of some runs. A run in a damaged pack is not among them.
 */
export function missingRuns(store: Store, runIds?: readonly string[]): string[] {
  const ledger = new Ledger(store.root);
  // A changed ledger may have anything in place of an id.
  const isGone = (runId: string) => !isRunId(runId) || !store.files.has(runId);
  if (runIds !== undefined) return stillEntered(ledger, runIds.filter(isGone));
  const listed = new Set(store.listNow());
  const entered = ledger.scan((lines) => enteredIn(lines));
  return stillEntered(
    ledger,
    [...entered].filter((runId) => isRunId(runId) && !listed.has(runId) && isGone(runId)),
  );
}

/** The packs that are in the ledger and not in the store, and that may have held one of these runs. */
export function missingPacks({ root, files }: Store, runIds: readonly string[]): string[] {
  const names = new Ledger(root).scan((lines) => {
    const found = new Set<string>();
    for (const line of lines) {
      const entry = line.includes('"packed"') ? parseObject(line.toString('utf8')) : undefined;
      if (entry?.type === 'packed') found.add(String(entry.pack));
    }
    return found;
  });
  return [...names]
    .filter((name) => {
      const ids = idsOfName(name);
      return ids !== undefined && runIds.some((runId) => ids.first <= runId && runId <= ids.last);
    })
    .map((name) => join(files.packed.folder, name))
    .filter((path) => !existsSync(path));
}

/** Enters runs that are missing as removed: the ledger then expects them no more. Returns those that it entered. */
export async function forgetMissingRuns(store: Store): Promise<string[]> {
  const runIds = missingRuns(store);
  if (runIds.length > 0)
    await new Ledger(store.root).append(...runIds.map((run_id) => ({ type: 'cleaned' as const, run_id })));
  return runIds;
}

/** Looks again at runs whose files are gone: before ACOR removes a run, it enters that. */
function stillEntered(ledger: Ledger, gone: readonly string[]): string[] {
  const [oldest] = gone.toSorted();
  if (oldest === undefined) return [];
  return [...ledger.scan((lines) => enteredIn(lines, new Set(gone)), oldest)].sort();
}

/** The runs whose last line says that they ended. */
function enteredIn(lines: Iterable<Buffer>, wanted?: ReadonlySet<string>): Set<string> {
  const entered = new Set<string>();
  for (const line of lines) {
    const [, type, runId] = BEGIN.exec(line.toString('latin1', 0, BEGIN_BYTES)) ?? [];
    if (runId === undefined || wanted?.has(runId) === false) continue;
    if (type === 'run') entered.add(runId);
    if (type === 'cleaned') entered.delete(runId);
  }
  return entered;
}
