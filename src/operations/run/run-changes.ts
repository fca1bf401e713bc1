import type * as z from 'zod';
import type { RunSource } from '../../core/ports/run-index.ts';
import { readRun } from '../../core/run/read-run.ts';
import { sourceOfRuns } from '../../core/run/source-of-runs.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run.ts';
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

/** How far a reader is: its place in the ledger, and the version of each run that had a supervisor when the reader was there. */
interface Cursor {
  ledger: string;
  seen: Readonly<Record<string, string>>;
}

interface Seen {
  line: ChangedRun;
  version: string;
}

/** The runs that have changed since a cursor, each once, in their present state; without a cursor none. */
export async function runChanges(app: AcorApp, after?: string): Promise<RunChanges> {
  await authorizeChanges(app);
  return (await RunsNow.take((await app.project()).store)).since(after);
}

/** Throws E_PERMISSION for a principal that may not read the runs. */
export async function authorizeChanges(app: AcorApp): Promise<void> {
  await app.authorize({ name: 'run.list', effect: 'reads' }, {});
}

/**
 * The runs of a project at one moment, from which the changes since any cursor follow. It is derived from the store, so that a cursor is valid in
 * any process. The cost is that of the live runs, and then of the changes: any number of readers can share it, and all of them get the same cursor.
 */
export class RunsNow {
  readonly #store: FileRunStore;
  readonly #source: RunSource;
  readonly #position: string;
  readonly #live: ReadonlySet<string>;
  readonly #seen = new Map<string, Promise<Seen | undefined>>();
  readonly #answers = new Map<string, Promise<RunChanges>>();
  /** Ask with it for what changes from now on. */
  #cursor = '';

  private constructor(
    store: FileRunStore,
    { source, position, live }: { source: RunSource; position: string; live: ReadonlySet<string> },
  ) {
    this.#store = store;
    this.#source = source;
    this.#position = position;
    this.#live = live;
  }

  static async take(store: FileRunStore): Promise<RunsNow> {
    const source = sourceOfRuns(store);
    // A supervisor writes the ledger before it releases its lease. So a run that ends around the look is in the ledger up to the position, or it is
    // one of these: those before, because the ledger may name it after the position; those after, because it may hold its lease in the next look.
    const before = await source.unended();
    const position = await source.position();
    const live = new Set([...before, ...(await source.unended())]);
    const now = new RunsNow(store, { source, position, live });
    await now.#makeCursor();
    return now;
  }

  get cursor(): string {
    return this.#cursor;
  }

  /** Throws E_USAGE for an invalid cursor. */
  since(after: string | undefined): Promise<RunChanges> {
    const key = after ?? '';
    const known = this.#answers.get(key) ?? this.#changesSince(after);
    this.#answers.set(key, known);
    return known;
  }

  async #changesSince(after: string | undefined): Promise<RunChanges> {
    const nothing = { runs: [], removed: [], cursor: this.#cursor, isReset: false };
    if (after === undefined) return nothing;
    const { ledger, seen: known } = readCursor(after);
    const ended = await this.#source.changesAfter(ledger, this.#position);
    if (ended === undefined) return { ...nothing, isReset: true };
    const runs: ChangedRun[] = [];
    const removed: string[] = [];
    for (const runId of new Set([...ended.runIds, ...Object.keys(known), ...this.#live])) {
      const run = await this.#see(runId);
      if (run !== undefined && known[runId] !== run.version) runs.push(run.line);
      if (run === undefined && !this.#live.has(runId)) removed.push(runId);
    }
    return { ...nothing, runs, removed };
  }

  async #makeCursor(): Promise<void> {
    const seen: Record<string, string> = {};
    for (const runId of this.#live) {
      const run = await this.#see(runId);
      if (run !== undefined) seen[runId] = run.version;
    }
    const cursor = { ledger: this.#position, seen } satisfies Cursor;
    this.#cursor = Buffer.from(JSON.stringify(cursor)).toString('base64url');
  }

  #see(runId: string): Promise<Seen | undefined> {
    const seen = this.#seen.get(runId) ?? seeRun(this.#store, runId);
    this.#seen.set(runId, seen);
    return seen;
  }
}

/** The `seq` of the last event of a run that a reader with this cursor has seen; 0 for a run that is new to it. */
export function seqSeen(cursor: string | undefined, run: string): number {
  return cursor === undefined ? 0 : Number.parseInt(readCursor(cursor).seen[run] ?? '0', 10);
}

/** Undefined when the run is being made, or was removed. */
async function seeRun(store: FileRunStore, runId: string): Promise<Seen | undefined> {
  try {
    // The events first: a later one then counts as a change.
    const extent = await store.extent(runId);
    const record = await readRun(store, runId);
    // All events of an ended run were there before its record said so, which may have been between the two.
    const { events: seq } = isFinal(record.state) ? await store.extent(runId) : extent;
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
