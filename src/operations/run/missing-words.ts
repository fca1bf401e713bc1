import { existsSync } from 'node:fs';
import type { RunIndex } from '../../core/ports/run-index.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { missingPacks } from '../../core/store-files/missing-runs.ts';
import { FORGET_MISSING_RUNS, VERIFY } from '../../protocol/next-steps.ts';

/** Names the runs whose files or records another program removed, and the fix; undefined when there are none. */
export function missingWords(
  store: FileRunStore,
  runIds: readonly string[],
): { words: string; next: typeof VERIFY } | undefined {
  if (runIds.length === 0) return undefined;
  // `clean --missing` takes no run whose folder is there.
  const withFolder = new Set(runIds.filter((runId) => existsSync(store.layout(runId).dir)));
  const gone = runIds.filter((runId) => !withFolder.has(runId));
  const words = [
    ...goneWords(store, gone),
    ...[...withFolder].slice(0, 1).map((runId) => recordWords(store, runId, withFolder.size)),
  ];
  return { words: words.join(' '), next: gone.length > 0 ? FORGET_MISSING_RUNS : VERIFY };
}

function goneWords(store: FileRunStore, runIds: readonly string[]): string[] {
  const [first, last] = [runIds[0], runIds.at(-1)];
  if (first === undefined) return [];
  const what =
    runIds.length === 1
      ? `run ${first} has ended and is missing, and ACOR did not remove it`
      : `${runIds.length} runs have ended and are missing, and ACOR did not remove them: ${first} to ${last}`;
  const packs = missingPacks(store, runIds);
  const folders =
    runIds.length === 1 ? `its folder ${store.layout(first).dir}` : `their folders below ${store.root}`;
  const where = packs.length === 0 ? folders : packs.join(', ');
  const runs = runIds.length === 1 ? 'run' : 'runs';
  return [`${what}. Restore ${where} from a backup. If there is none, enter the missing ${runs} as removed.`];
}

function recordWords(store: FileRunStore, first: string, count: number): string {
  const others = count === 1 ? '' : `; so it is with ${count - 1} more, which verify lists`;
  const { metadata, dir } = store.layout(first);
  return `the record of run ${first} is missing, its folder is there: restore ${metadata} from a backup, or remove ${dir}${others}.`;
}

/** What a reader of an index should know besides its answer. */
export async function warningsOf(index: RunIndex, store: FileRunStore): Promise<string[]> {
  const missing = missingWords(store, await index.missing());
  return [index.warning, missing?.words].filter((warning) => warning !== undefined);
}
