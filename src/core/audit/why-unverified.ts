import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { isSameSignature, type Signature, Signatures } from '../../util/file-signature.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { Ledger } from '../store-files/ledger.ts';
import type { EnteredEnd } from './entered-runs.ts';
import { LedgerEnds } from './ledger-ends.ts';
import { LogBytes, openLog } from './log-bytes.ts';
import { checkEntry, checkLog, isSealed, timeOf } from './verify-log.ts';
import { END_MISSING } from './verify-problem.ts';
import { endProblems, recordProblems } from './verify-record.ts';

/** So many compared runs are remembered, in half a kilobyte each. */
const MOST_REMEMBERED = 10_000;

/** How a run was compared: when its ends were, what the ledger has of them, and what differed. */
interface Comparison {
  problem: string | undefined;
  endsMs: readonly number[];
  entered: readonly EnteredEnd[];
}

/** A comparison that found nothing, with the files as they were. */
type Remembered = Comparison & { files: Readonly<Record<string, Signature>> };

/** A process of many requests compares a run again when its record, its log or its lines in the ledger have changed. */
const rememberedOf = new WeakMap<FileRunStore, Map<string, Remembered>>();

/**
 * Why the record and the log of an ended run are no facts: they differ from each other, from their seal or from the ledger. Undefined for a
 * live run, and for a log of more than `maxBytes`, which only `verifyOne` reads. Artifacts are not compared. A caller that asks for many runs gives the `ends` of the ledger.
 */
export function whyUnverified(
  store: FileRunStore,
  runId: string,
  { maxBytes, ends = new LedgerEnds(new Ledger(store.root)) }: { maxBytes: number; ends?: LedgerEnds },
): string | undefined {
  const signatures = new Signatures();
  const { metadata, events } = store.layout(runId);
  for (const path of [metadata, events]) signatures.take(path);
  const files = signatures.all();
  if (files !== null && isAsRemembered(store, runId, files, ends)) return undefined;
  const record = store.readNow(runId);
  if (!isFinal(record.state)) return undefined;
  const compared = compare(store, record, { maxBytes, ends });
  if (compared === undefined) return undefined;
  if (compared.problem === undefined) {
    if (files !== null) remember(store, runId, { ...compared, files });
    return undefined;
  }
  // It may have been resumed meanwhile. A look at all leases for each run of a list would cost more than the rest.
  if (store.leases.stateOf(runId) === 'live') return undefined;
  if (compared.problem !== END_MISSING) return compared.problem;
  // The ledger may have been read before the run ended.
  return compare(store, record, { maxBytes, ends: new LedgerEnds(new Ledger(store.root)) })?.problem;
}

/** Undefined for a log that is too long. */
function compare(
  store: FileRunStore,
  record: RunRecord,
  { maxBytes, ends }: { maxBytes: number; ends: LedgerEnds },
): Comparison | undefined {
  const { run_id: runId } = record;
  const opened = openLog(store, runId);
  if (typeof opened === 'string') return { problem: opened, endsMs: [], entered: [] };
  using bytes = new LogBytes(opened);
  if (bytes.size > maxBytes) return undefined;
  const log = checkLog(bytes, { mayBeTorn: false });
  const endsMs = log.ends.map(timeOf);
  const entered = ends.of(runId, endsMs);
  const [found] = [
    ...log.problems,
    ...endProblems(record, log, bytes),
    ...entered.flatMap((end) => checkEntry(bytes, log, end)),
    ...recordProblems(store, record, log),
  ];
  const isEntered = !isSealed(log) || entered.some((end) => end.events === log.events);
  return { problem: found?.problem ?? (isEntered ? undefined : END_MISSING), endsMs, entered };
}

function isAsRemembered(
  store: FileRunStore,
  runId: string,
  files: Readonly<Record<string, Signature>>,
  ends: LedgerEnds,
): boolean {
  const before = rememberedOf.get(store)?.get(runId);
  if (before === undefined) return false;
  if (Object.keys(files).some((path) => !isSameSignature(before.files[path], files[path]!))) return false;
  const entered = ends.of(runId, before.endsMs);
  const isSame = ({ events, sha256 }: EnteredEnd, at: number) =>
    events === before.entered[at]?.events && sha256 === before.entered[at].sha256;
  return entered.length === before.entered.length && entered.every(isSame);
}

/** Not the runs in packs, whose signatures are texts: a pack is another file after each change. */
function remember(store: FileRunStore, runId: string, compared: Remembered): void {
  if (Object.values(compared.files).some((signature) => typeof signature === 'string')) return;
  const remembered = rememberedOf.get(store) ?? new Map();
  rememberedOf.set(store, remembered);
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(runId, compared);
}
