import { existsSync, statSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run.ts';
import { nextTurn } from '../../util/pause.ts';
import { closedByOwner } from '../../util/users.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import type { RunLayout } from '../store-files/layout.ts';
import { Ledger } from '../store-files/ledger.ts';
import type { EnteredRun } from './entered-runs.ts';
import { LaterRecords } from './later-records.ts';
import type { LedgerChain } from './ledger-chain.ts';
import { LogBytes, openLog } from './log-bytes.ts';
import { PackedArtifacts } from './packed-artifacts.ts';
import { readLedger } from './read-ledger.ts';
import { undonePaths } from './undone-paths.ts';
import { ArtifactCheck, artifactsOf } from './verify-artifacts.ts';
import { enteredOf, ledgerOf, readWholeLedger, verifyLedger, verifyRunInLedger } from './verify-ledger.ts';
import { checkEntry, checkLog, isSealed, timeOf } from './verify-log.ts';
import { noteOn } from './verify-note.ts';
import type { VerifyProblem } from './verify-problem.ts';
import { endProblems, recordProblems } from './verify-record.ts';

/**
 * The result of verifying one run. `sealed` is false for a run that has not ended. A seal covers its events up to `sealed_events`; of
 * later events only the order can be checked. `note` explains that for people.
 */
export interface VerifiedRun {
  run_id: string;
  ok: boolean;
  sealed: boolean;
  events: number;
  sealed_events: number;
  artifacts: number;
  note: string | null;
  problems: VerifyProblem[];
}

/** A store that was damaged as a whole has a problem in every run. */
const MOST_LISTED = 1_000;

/** A live run may grow all the time. */
const MOST_ROUNDS = 5;

/** Verifies one run, and what the ledger has of it: the cost does not grow with the number of runs. */
export async function verifyOne(store: FileRunStore, runId: string): Promise<VerifiedStore> {
  let chain: LedgerChain | undefined;
  const run = await verifyRun(store, runId, (timesMs) => {
    chain = ledgerOf(store, runId, timesMs);
    return enteredOf(chain, runId);
  });
  const ledger = verifyRunInLedger(store, runId, chain);
  const { sealed, events, artifacts } = run;
  const problems = run.problems.length + ledger.length;
  return {
    runs: [run],
    ledger,
    closed: [],
    counts: { runs: 1, sealed: sealed ? 1 : 0, events, artifacts, problems },
  };
}

/**
 * Verifies a workflow or a pipe with the runs of its steps, each with what the ledger has of it. The answer has the run itself, and the
 * steps with a problem or a note, `MOST_LISTED` at most.
 */
export async function verifyWithSteps(
  store: FileRunStore,
  runId: string,
  steps: Iterable<string>,
): Promise<VerifiedStore> {
  const { runs, ledger, counts } = await verifyOne(store, runId);
  for (const step of steps) {
    await nextTurn();
    const one = await verifyOne(store, step).catch((error: unknown) => {
      // It was removed since its workflow was looked up.
      if (error instanceof AcorError && error.code === 'E_RUN_NOT_FOUND') return undefined;
      throw error;
    });
    if (one === undefined) continue;
    for (const key of ['runs', 'sealed', 'events', 'artifacts', 'problems'] as const)
      counts[key] += one.counts[key];
    const [run] = one.runs;
    if (run !== undefined && (!run.ok || run.note !== null) && runs.length < MOST_LISTED) runs.push(run);
    ledger.push(...one.ledger.slice(0, MOST_LISTED - ledger.length));
  }
  return { runs, ledger, closed: [], counts };
}

type Entries = (timesMs: readonly number[]) => readonly EnteredRun[];

/**
 * Recomputes the seals, the order and the artifacts of a run (contract §6), and compares them to what was recorded. A log that has grown
 * meanwhile is verified again: the ledger may already have what was not in the log when it was read.
 */
export async function verifyRun(
  store: FileRunStore,
  runId: string,
  entries?: Entries,
  later = new LaterRecords(store),
): Promise<VerifiedRun> {
  for (let round = 1; ; round++) {
    const before = sizeOf(store, runId);
    const verified = await verifyNow(
      store,
      runId,
      entries ?? ((times) => enteredOf(ledgerOf(store, runId, times), runId)),
      later,
    );
    if (verified.ok || round === MOST_ROUNDS || sizeOf(store, runId) === before) return verified;
  }
}

function sizeOf(store: FileRunStore, runId: string): number | undefined {
  const log = openLog(store, runId);
  if (typeof log === 'string') return undefined;
  using opened = log;
  return opened.size;
}

async function verifyNow(
  store: FileRunStore,
  runId: string,
  entries: Entries,
  later: LaterRecords,
): Promise<VerifiedRun> {
  const record = store.readNow(runId);
  const opened = openLog(store, runId);
  if (typeof opened === 'string') return unreadable(runId, 'events', store.layout(runId).events, opened);
  using bytes = new LogBytes(opened);
  const path = bytes.location;
  const log = checkLog(bytes, { mayBeTorn: !isFinal(record.state) });
  const isTrusted = log.problems.length === 0;
  const found = [...log.problems, ...endProblems(record, log, bytes)];
  // The last seal covers all events before its own; the ledger covers that one as well.
  if (found.length === 0) {
    found.push(...entries(log.ends.map(timeOf)).flatMap((entry) => checkEntry(bytes, log, entry)));
  }
  const problems: VerifyProblem[] = found.map((problem) => ({
    run_id: runId,
    where: 'events',
    path,
    ...problem,
  }));
  if (isTrusted) problems.push(...recordProblems(store, record, log));
  const artifacts = artifactsOf(log);
  const packed = new PackedArtifacts(store.files, runId);
  const endedMs = log.ends.length === 0 ? 0 : timeOf(log.ends.at(-1)!);
  const isReplaced = (path: string, sha256: string) =>
    isRecordedLater(store, { path, sha256, runId, endedMs }, later);
  const check = new ArtifactCheck(packed, isReplaced);
  for (const artifact of artifacts) {
    const problem = await check.problemOf(artifact);
    if (problem && !undonePaths(store, runId).has(artifact.path))
      problems.push({ run_id: runId, where: 'artifact', path: artifact.path, problem });
  }
  for (const { path: name, problem } of packed.damagedFiles())
    problems.push({ run_id: runId, where: 'record', path: name, problem });
  return {
    run_id: runId,
    ok: problems.length === 0,
    sealed: isSealed(log),
    events: log.events,
    sealed_events: log.sealedEvents,
    artifacts: artifacts.length,
    note: noteOn(record, log, isLive(store, runId)),
    problems,
  };
}

/** What was verified in a whole store. */
export interface VerifiedStore {
  /** The runs with a problem or a note, `MOST_LISTED` at most. */
  runs: VerifiedRun[];
  /** `MOST_LISTED` at most. */
  ledger: VerifyProblem[];
  /** Runs of another user, which this one may not read: they were not verified. `MOST_LISTED` at most. */
  closed: string[];
  /** Of all runs that were verified, and of the ledger. */
  counts: VerifiedCounts;
}

export interface VerifiedCounts {
  runs: number;
  sealed: number;
  events: number;
  artifacts: number;
  problems: number;
}

/** Verifies all runs and the ledger, which is read once. The result does not grow with the number of runs. */
export async function verifyStore(store: FileRunStore): Promise<VerifiedStore> {
  const { chain, ...before } = readWholeLedger(store);
  const isClosed = (runId: string) => closedByOwner(store.layout(runId).dir) !== undefined;
  const closed = new Set(store.listNow().filter(isClosed));
  // First what compares logs with the ledger as they are now: a run may be resumed meanwhile.
  const ledger = verifyLedger(store, { ...before, chain }).filter(({ run_id }) => !closed.has(run_id));
  const runs: VerifiedRun[] = [];
  const counts = { runs: 0, sealed: 0, events: 0, artifacts: 0, problems: ledger.length };
  for await (const run of verifyAll(store, chain)) {
    if (closed.has(run.run_id)) continue;
    counts.runs++;
    counts.sealed += run.sealed ? 1 : 0;
    counts.events += run.events;
    counts.artifacts += run.artifacts;
    counts.problems += run.problems.length;
    if ((!run.ok || run.note !== null) && runs.length < MOST_LISTED) runs.push(run);
  }
  return { runs, ledger: ledger.slice(0, MOST_LISTED), closed: [...closed].slice(0, MOST_LISTED), counts };
}

/**
 * Checks every run that is not live; a run that cannot be read is a problem like any other. The chain gives up each run that was checked.
 * Between two runs signals get their turn.
 */
export async function* verifyAll(
  store: FileRunStore,
  { runs }: LedgerChain = readLedger(new Ledger(store.root)),
): AsyncGenerator<VerifiedRun> {
  const later = new LaterRecords(store);
  for (const runId of store.listNow()) {
    await nextTurn();
    const run = await verifyOrReport(store, runId, () => runs.get(runId) ?? [], later);
    if (run !== undefined) yield run;
    runs.delete(runId);
  }
}

/** Undefined for a run that is live or never began. */
async function verifyOrReport(
  store: FileRunStore,
  runId: string,
  entries: Entries,
  later: LaterRecords,
): Promise<VerifiedRun | undefined> {
  try {
    if (isLive(store, runId) && !isFinal(store.readNow(runId).state)) return undefined;
    return await verifyRun(store, runId, entries, later);
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    if (error.code === 'E_RUN_NOT_FOUND' && neverBegan(store.layout(runId))) return undefined;
    const path = store.files.inPack(runId)?.table.path ?? store.layout(runId).metadata;
    return unreadable(runId, 'record', path, error.message);
  }
}

/** Whether a run's creator was killed before it had written the record or an event. */
function neverBegan({ metadata, events }: RunLayout): boolean {
  return !existsSync(metadata) && (!existsSync(events) || statSync(events).size === 0);
}

function unreadable(
  runId: string,
  where: VerifyProblem['where'],
  path: string,
  problem: string,
): VerifiedRun {
  return {
    run_id: runId,
    ok: false,
    sealed: false,
    events: 0,
    sealed_events: 0,
    artifacts: 0,
    note: null,
    problems: [{ run_id: runId, where, path, problem }],
  };
}

async function isRecordedLater(
  store: FileRunStore,
  { path, sha256, runId, endedMs }: { path: string; sha256: string; runId: string; endedMs: number },
  later: LaterRecords,
): Promise<boolean> {
  const newest = await later.newestOf(path);
  if (newest === undefined || newest.runId === runId || newest.sha256 !== sha256) return false;
  return newest.atMs >= endedMs && isIntact(store, newest.runId);
}

/** Whether the log of a run has its end, and matches its seals and the ledger. */
function isIntact(store: FileRunStore, runId: string): boolean {
  const opened = store.logIfThere(runId);
  if (opened === undefined) return false;
  using bytes = new LogBytes(opened);
  const log = checkLog(bytes, { mayBeTorn: false });
  if (log.problems.length > 0 || !isSealed(log)) return false;
  const entries = enteredOf(ledgerOf(store, runId, log.ends.map(timeOf)), runId);
  return entries.length > 0 && entries.every((entry) => checkEntry(bytes, log, entry).length === 0);
}

function isLive(store: FileRunStore, runId: string): boolean {
  return store.leases.stateOf(runId) === 'live';
}
