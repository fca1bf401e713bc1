import { basename } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { Ledger } from '../store-files/ledger.ts';
import { missingPacks, missingRuns } from '../store-files/missing-runs.ts';
import { tailOf } from '../store-files/tail.ts';
import type { EnteredRun } from './entered-runs.ts';
import type { LedgerChain, LedgerProblem } from './ledger-chain.ts';
import { LogBytes } from './log-bytes.ts';
import { readLedger } from './read-ledger.ts';
import { END_MISSING, type VerifyProblem } from './verify-problem.ts';

/**
 * The ledger, and what was in the store before it was read: a run is entered there before its record says that it has ended, and a pack
 * before it appears.
 */
export interface WholeLedger {
  ended: readonly string[];
  packs: readonly FoundPack[];
  chain: LedgerChain;
}

/** The hash of the table of a pack, or what is wrong with it. */
type FoundPack = { path: string; sha256: string | undefined; damage: string | undefined };

export function readWholeLedger(store: FileRunStore): WholeLedger {
  const ended = store.listNow().filter((runId) => hasEnded(store, runId));
  const packs = Array.from(store.files.packed.tables(), ({ path, table, damage }) => ({
    path,
    sha256: table?.sha256,
    damage: damage?.message,
  }));
  return { ended, packs, chain: readLedger(new Ledger(store.root)) };
}

/** Checks the chain of the ledger, that every run in it exists unchanged, and that every ended run is in it. */
export function verifyLedger(
  store: FileRunStore,
  { ended, packs, chain }: WholeLedger = readWholeLedger(store),
): VerifyProblem[] {
  const problems = [...chain.problems, ...packs.flatMap((pack) => problemsOfPack(pack, chain))];
  const unentered = new Set(ended.filter((runId) => !chain.runs.has(runId)));
  const gone: string[] = [];
  for (const runId of chain.runs.keys()) {
    const found = checkRun(store, runId, chain);
    if (found === 'gone') gone.push(runId);
    else if (found === 'unentered') unentered.add(runId);
    else if (found !== undefined) problems.push(found);
  }
  // A run may have been removed since the ledger was read.
  const missing = missingRuns(store, gone);
  return [
    ...problems,
    ...missingPacks(store, missing).map(packMissing),
    ...missing.map((runId) => runMissing(chain, runId)),
    ...[...unentered].map((runId) => endMissing(chain, runId)),
  ].map(inLedger);
}

/** A pack is as it should be when its table is one that ACOR has written. */
function problemsOfPack({ path, sha256, damage }: FoundPack, { packs }: LedgerChain): LedgerProblem[] {
  if (packs.has(`${basename(path)} ${sha256}`)) return [];
  const problem = damage ?? 'the table of this pack is not one that was entered in the ledger';
  return [{ run_id: '', path, problem }];
}

/** Checks the ledger lines of one run, and the chain around them. The cost does not grow with the number of runs. */
export function verifyRunInLedger(store: FileRunStore, runId: string, known?: LedgerChain): VerifyProblem[] {
  const isEnded = hasEnded(store, runId);
  const near = problemsOf(known ?? ledgerOf(store, runId, timesOfEnds(store, runId)));
  // Recovery adds the line of a lost run later, and the clock may have been set.
  return (near.length === 0 ? near : problemsOf(readLedger(new Ledger(store.root), { runId }))).map(inLedger);

  function problemsOf(chain: LedgerChain): LedgerProblem[] {
    const found = chain.runs.has(runId) ? checkRun(store, runId, chain) : isEnded ? 'unentered' : undefined;
    const ofRun = problemsOfRun(chain, runId, found);
    return [...chain.problems.filter(({ run_id }) => run_id === runId || run_id === ''), ...ofRun];
  }
}

/** The ends of a run in the ledger, some of which were added at these times. */
export function ledgerOf(store: FileRunStore, runId: string, timesMs: readonly number[]): LedgerChain {
  const ledger = new Ledger(store.root);
  const near = readLedger(ledger, { runId, timesMs });
  return enteredOf(near, runId).length >= timesMs.length ? near : readLedger(ledger, { runId });
}

export function enteredOf(chain: LedgerChain, runId: string): readonly EnteredRun[] {
  return chain.runs.get(runId) ?? [];
}

function problemsOfRun(chain: LedgerChain, runId: string, found: Found): LedgerProblem[] {
  switch (found) {
    case undefined:
      return [];
    case 'gone':
      return [runMissing(chain, runId)];
    case 'unentered':
      return [endMissing(chain, runId)];
    default:
      return [found];
  }
}

/** What is wrong with a run: `gone` when it is in the ledger only, `unentered` when its end is not there. */
type Found = LedgerProblem | 'gone' | 'unentered' | undefined;

function checkRun(store: FileRunStore, runId: string, chain: LedgerChain): Found {
  const { path, line, ...entry } = chain.runs.get(runId)!.at(-1)!;
  const found = (problem: string) => ({ run_id: runId, path, problem, line });
  try {
    return compareLog();
  } catch (error) {
    // A damaged pack, or a log that is not a file, must not hide what is wrong elsewhere.
    if (error instanceof AcorError) return found(error.message);
    throw error;
  }

  function compareLog(): Found {
    using log = logOf(store, runId);
    if (log === undefined) return chain.cleaned.has(runId) ? undefined : 'gone';
    const end = log.endOfLines(entry.events) ?? log.size;
    const isAsEntered = log.sha256(end) === entry.sha256;
    // A resumed run gets another ledger line when it ends; until then its log is longer than its last line records.
    if (isAsEntered && (end === log.size || !hasEnded(store, runId))) return undefined;
    if (isAsEntered && endsWithAnEnd(store, runId)) return 'unentered';
    return found('the event log is not the one that was entered when the run ended');
  }
}

function packMissing(path: string): LedgerProblem {
  return {
    run_id: '',
    path,
    problem: 'this pack is gone; it may have held the runs that are no longer in the store',
  };
}

function runMissing(chain: LedgerChain, run_id: string): LedgerProblem {
  const { path, line } = chain.runs.get(run_id)!.at(-1)!;
  return { run_id, path, problem: 'the run is in the ledger, but no longer in the store', line };
}

function endMissing({ end }: LedgerChain, run_id: string): LedgerProblem {
  return { run_id, path: end.path, problem: END_MISSING, line: end.line + 1, from: end.at, to: end.at };
}

function inLedger(problem: LedgerProblem): VerifyProblem {
  return { where: 'ledger', ...problem };
}

function endsWithAnEnd(store: FileRunStore, runId: string): boolean {
  using log = store.openLog(runId);
  for (const { type } of tailOf(log)) return type === 'runner_end';
  return false;
}

/** When the last end in a log was written, in milliseconds since 1970; empty when a log has none, or was changed. */
function timesOfEnds(store: FileRunStore, runId: string): number[] {
  try {
    using log = store.openLog(runId);
    for (const { ts } of tailOf(log, ['runner_end'])) return [Date.parse(String(ts))];
    return [];
  } catch {
    return [];
  }
}

/** False also for a run with an unreadable record, which is reported elsewhere. */
function hasEnded(store: FileRunStore, runId: string): boolean {
  try {
    return isFinal(store.readNow(runId).state);
  } catch (error) {
    if (error instanceof AcorError) return false;
    throw error;
  }
}

/** Undefined also for what cannot be a run id. */
function logOf(store: FileRunStore, runId: string): LogBytes | undefined {
  try {
    const log = store.logIfThere(runId);
    return log && new LogBytes(log);
  } catch (error) {
    if (error instanceof AcorError && error.code === 'E_RUN_NOT_FOUND') return undefined;
    throw error;
  }
}
