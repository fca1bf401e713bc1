import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '../../protocol/run-record.ts';
import { errorCode } from '../../util/error-code.ts';
import type { IndexedQuestion, RunSource, SourceRun } from '../ports/run-index.ts';
import { Ledger } from './ledger.ts';
import { changesAfter, positionOf } from './ledger-changes.ts';
import type { RunStore } from './run-store.ts';
import { storageError } from './storage-error.ts';

/** So much of a run's arguments and message can be searched. */
const MAX_TEXT_CHARS = 4_000;

/** What an index of the runs in a folder is made from: the tail of the ledger, the leases, and the records that these name. */
export function fileRunSource(
  store: RunStore,
  questions: (runId: string) => Promise<IndexedQuestion[]>,
): RunSource {
  const ledger = new Ledger(store.root);
  return {
    position: async () => positionOf(ledger),
    changesAfter: async (position) => changesAfter(ledger, position),
    list: async () => store.list(),
    unended: async () => leasedRuns(store.root) ?? store.list(),
    has: (runId) => existsSync(store.layout(runId).metadata),
    async read(runId) {
      try {
        return sourceRunOf(store.read(runId));
      } catch {
        // Being made, being removed, or damaged; the last is for `acor verify` to report.
        return undefined;
      }
    },
    questions,
  };
}

/** The runs of the leases; undefined for a store that has none yet. */
function leasedRuns(root: string): string[] | undefined {
  const folder = join(root, 'leases');
  try {
    return readdirSync(folder).flatMap((name) => /^(r-[0-9a-z-]+)@\d+$/.exec(name)?.[1] ?? []);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, 'list the leases', folder);
  }
}

function sourceRunOf(record: RunRecord): SourceRun {
  const {
    run_id,
    tool,
    kind,
    state,
    code,
    message,
    attempt,
    caller,
    parent,
    created_at,
    ended_at,
    duration_s,
  } = record;
  return {
    run: {
      run_id,
      tool,
      kind,
      state,
      code,
      message,
      attempt,
      caller,
      // Absent in records of earlier builds.
      parent: parent ?? null,
      created_at,
      ended_at,
      duration_s,
    },
    text: [run_id, tool, code, message, ...record.args].join('\n').slice(0, MAX_TEXT_CHARS),
  };
}
