import type { RunIndex } from '../../core/ports/run-index.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { missingPacks } from '../../core/store-files/missing-runs.ts';

/** Names the runs whose files another program removed, and the fix; undefined when there are none. */
export function missingWords(store: FileRunStore, runIds: readonly string[]): string | undefined {
  const [first, last] = [runIds[0], runIds.at(-1)];
  if (first === undefined) return undefined;
  const what =
    runIds.length === 1
      ? `run ${first} has ended and is missing, and ACOR did not remove it`
      : `${runIds.length} runs have ended and are missing, and ACOR did not remove them: ${first} to ${last}`;
  const packs = missingPacks(store, runIds);
  const where = packs.length === 0 ? `their folders below ${store.root}` : packs.join(', ');
  return `${what}. Restore ${where} from a backup. If there is none, enter the missing runs as removed.`;
}

/** What a reader of an index should know besides its answer. */
export async function warningsOf(index: RunIndex, store: FileRunStore): Promise<string[]> {
  const missing = missingWords(store, await index.missing());
  return [index.warning, missing].filter((warning) => warning !== undefined);
}
