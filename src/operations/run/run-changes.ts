import type * as z from 'zod';
import { readRun } from '../../core/run/read-run.ts';
import { sourceOfRuns } from '../../core/run/source-of-runs.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { parseObject } from '../../util/parse-object.ts';
import type { AcorApp } from '../acor-app.ts';
import type { runLine } from '../shapes.ts';
import { runLineOf } from './run-line.ts';

/** A run that has changed, with the `seq` of its last event. */
export type ChangedRun = z.output<typeof runLine> & { seq: number };

/** What has changed in the runs of a project since a cursor. */
export interface RunChanges {
  runs: ChangedRun[];
  removed: string[];
  /** Ask with it for what changes from now on. */
  cursor: string;
  /** The cursor was too old: everything may have changed. */
  isReset: boolean;
}

/**
 * How far a reader is: its place in the ledger, and the version of each run that it has seen and that the ledger did not have there.
 * A run that was in the ledger already while its supervisor lived is marked.
 */
interface Cursor {
  ledger: string;
  seen: Readonly<Record<string, string>>;
}

const IN_LEDGER = '*';

interface Seen {
  line: ChangedRun;
  version: string;
}

/**
 * The runs that have changed since a cursor, each once, in their present state; without a cursor none. It is derived from the store, so
 * that a cursor is valid in any process. The cost is that of the changes and of the live runs.
 */
export async function runChanges(app: AcorApp, after?: string): Promise<RunChanges> {
  await app.authorize({ name: 'run.list', effect: 'reads' }, {});
  const { store } = await app.project();
  const source = sourceOfRuns(store);
  const from = after === undefined ? undefined : readCursor(after);
  // Read the ledger first: a run that ends after that is reported now, and skipped when the ledger names it.
  const ended = from === undefined ? undefined : await source.changesAfter(from.ledger);
  const ledger = ended?.position ?? (await source.position());
  const known = ended === undefined ? {} : from!.seen;
  const inLedger = new Set(ended?.runIds);
  const live = new Set(await source.unended());
  const runs: ChangedRun[] = [];
  const removed: string[] = [];
  const seen: Record<string, string> = {};
  for (const runId of new Set([...inLedger, ...Object.keys(known), ...live])) {
    const run = await seeRun(store, runId);
    if (run === undefined) {
      if (!live.has(runId)) removed.push(runId);
      continue;
    }
    const isSame = known[runId]?.replace(IN_LEDGER, '') === run.version;
    if (!isSame) runs.push(run.line);
    const isListed = inLedger.has(runId) || (isSame && known[runId]!.endsWith(IN_LEDGER));
    if (live.has(runId) || !isListed) seen[runId] = run.version + (isListed ? IN_LEDGER : '');
  }
  const cursor = Buffer.from(JSON.stringify({ ledger, seen } satisfies Cursor)).toString('base64url');
  if (ended === undefined) return { runs: [], removed: [], cursor, isReset: after !== undefined };
  return { runs, removed, cursor, isReset: false };
}

/** The `seq` of the last event of a run that a reader with this cursor has seen; 0 for a run that is new to it. */
export function seqSeen(cursor: string | undefined, run: string): number {
  return cursor === undefined ? 0 : Number.parseInt(readCursor(cursor).seen[run] ?? '0', 10);
}

/** Undefined when the run is being made, or was removed. */
async function seeRun(store: FileRunStore, runId: string): Promise<Seen | undefined> {
  try {
    // The events first: a later one then counts as a change.
    const { events: seq } = await store.extent(runId);
    const record = await readRun(store, runId);
    const line = { ...(await runLineOf(store, record)), seq };
    // The last event is stored before the record has the end.
    return { line, version: `${seq}:${record.state}:${record.lost === true}` };
  } catch {
    return undefined;
  }
}

function readCursor(text: string): Cursor {
  const cursor = parseObject(Buffer.from(text, 'base64url').toString());
  const { ledger, seen } = cursor ?? {};
  if (typeof ledger === 'string' && typeof seen === 'object' && seen !== null)
    return { ledger, seen } as Cursor;
  throw new AcorError('E_USAGE', 'the cursor is invalid', {
    hint: 'Use the id of the last message, or none to get what changes from now on.',
  });
}
