import { fileOfWorkflow } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { parseObject } from '../../util/parse-object.ts';
import type { IndexedQuestion, RunSource, SourceRun } from '../ports/run-index.ts';
import { costOf } from './cost-of-run.ts';
import type { FileRunStore } from './file-run-store.ts';
import { Ledger } from './ledger.ts';
import { changesAfter, positionOf } from './ledger-changes.ts';
import { missingRuns } from './missing-runs.ts';
import { idsOfName } from './packed-runs.ts';

/** So much of a run's arguments and message can be searched. */
const MAX_TEXT_CHARS = 4_000;

/** What an index of the runs in a folder is made from: the tail of the ledger, the leases, and the records that these name. */
export function fileRunSource(
  store: FileRunStore,
  /** The record of a run with what is known of its end, and its questions. */
  reading: {
    run: (runId: string) => Promise<RunRecord>;
    questions: (runId: string) => Promise<IndexedQuestion[]>;
  },
): RunSource {
  const ledger = new Ledger(store.root);
  // A pack that is gone next time may have been removed by another program, of which the ledger says nothing.
  const withPacks = (position: string) =>
    JSON.stringify({ ...JSON.parse(position), packs: store.files.packed.names() });
  return {
    position: async () => withPacks(positionOf(ledger)),
    changesAfter: async (position, upTo) => {
      const changes = changesAfter(ledger, position, upTo);
      if (changes === undefined) return undefined;
      const names = new Set(store.files.packed.names());
      const gone = packsIn(position).filter((name) => !names.has(name));
      const doubtful = gone.flatMap((name) => idsOfName(name) ?? []);
      return { ...changes, doubtful, position: withPacks(changes.position) };
    },
    list: async () => store.listNow(),
    unended: async () => (await store.leases.list()).map(({ runId }) => runId),
    existing: async (runIds) => new Set(runIds.filter((runId) => store.files.has(runId))),
    // A folder without a record is in the listing, and is missing all the same.
    missing: async (runIds) =>
      runIds === undefined
        ? [...missingRuns(store), ...missingRuns(store, store.listNow())].sort()
        : missingRuns(store, runIds),
    async read(runId) {
      try {
        return sourceRunOf(await reading.run(runId));
      } catch {
        // Being made, being removed, or damaged; the last is for `acor verify` to report.
        return undefined;
      }
    },
    questions: reading.questions,
  };
}

function packsIn(position: string): string[] {
  const packs = parseObject(position)?.packs;
  return Array.isArray(packs) ? packs.map(String) : [];
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
      file: fileOfWorkflow(record),
    },
    mayHaveAsked: record.has_questions !== false,
    // Absent in records of earlier builds.
    cpu_s: record.usage?.cpu_s ?? null,
    cost_usd: record.cost_usd ?? null,
    cost: costOf(record),
    text: [run_id, tool, code, message, ...record.args].join('\n').slice(0, MAX_TEXT_CHARS),
  };
}
