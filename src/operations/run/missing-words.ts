import { existsSync } from 'node:fs';
import type { RunIndex } from '../../core/ports/run-index.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { missingPacks } from '../../core/store-files/missing-runs.ts';
import { FORGET_MISSING_RUNS, VERIFY } from '../../protocol/next-steps.ts';
import { closedByOwner, giveCommand } from '../../util/users.ts';

/** Names the runs whose files or records another program removed, and the fix; undefined when there are none. */
export function missingWords(
  store: FileRunStore,
  runIds: readonly string[],
): { words: string; next: (typeof VERIFY)[] } | undefined {
  if (runIds.length === 0) return undefined;
  const [gone, closed, unrecorded]: [string[], string[], string[]] = [[], [], []];
  for (const runId of runIds) {
    const { dir } = store.layout(runId);
    // `clean --missing` takes no run whose folder is there.
    if (!existsSync(dir)) gone.push(runId);
    else (closedByOwner(dir) === undefined ? unrecorded : closed).push(runId);
  }
  const words = [
    ...goneWords(store, gone),
    ...unrecorded.slice(0, 1).map((runId) => recordWords(store, runId, unrecorded.length)),
    ...closed.slice(0, 1).map((runId) => closedWords(store, runId, closed.length)),
  ];
  const next = gone.length > 0 ? [FORGET_MISSING_RUNS] : unrecorded.length > 0 ? [VERIFY] : [];
  return { words: words.join(' '), next };
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

function closedWords(store: FileRunStore, first: string, count: number): string {
  const { dir } = store.layout(first);
  const others = count === 1 ? '' : `; so it is with ${count - 1} more`;
  const owner = closedByOwner(dir);
  return `run ${first} belongs to ${owner}, and this user may not read it${others}. Read it as ${owner}, or as root give it to this user: ${giveCommand(dir)}`;
}

/** What a reader of an index should know besides its answer. */
export async function warningsOf(index: RunIndex, store: FileRunStore): Promise<string[]> {
  const missing = missingWords(store, await index.missing());
  return [index.warning, missing?.words].filter((warning) => warning !== undefined);
}
