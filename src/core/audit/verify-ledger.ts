import { readFileSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run-state.ts';
import { errorCode } from '../../util/error-code.ts';
import { parseObject } from '../../util/parse-object.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { Ledger } from '../store-files/ledger.ts';
import { sha256 } from '../store-files/ledger-line.ts';
import { storageError } from '../store-files/storage-error.ts';
import type { EnteredRun, LedgerChain, LedgerProblem } from './ledger-chain.ts';
import { readLedger } from './read-ledger.ts';
import type { VerifyProblem } from './verify-problem.ts';

const END_MARK = '"type":"runner_end"';

/** Checks the chain of the ledger, that every run in it exists unchanged, and that every ended run is in it. */
export function verifyLedger(store: FileRunStore): VerifyProblem[] {
  // List the runs before reading the ledger: a run's ledger line is written before its final record.
  const ended = store.listNow().filter((runId) => hasEnded(store, runId));
  const chain = readLedger(new Ledger(store.root));
  const problems = [...chain.problems];
  const missing = new Set(ended.filter((runId) => !chain.runs.has(runId)));
  for (const runId of chain.runs.keys()) {
    const found = checkRun(store, runId, chain);
    if (found === 'missing') missing.add(runId);
    else if (found !== undefined) problems.push(found);
  }
  return [...problems, ...[...missing].map((runId) => missingFrom(chain, runId))].map(inLedger);
}

/** Checks the ledger lines of one run, and the chain around them. The cost does not grow with the number of runs. */
export function verifyRunInLedger(store: FileRunStore, runId: string): VerifyProblem[] {
  const isEnded = hasEnded(store, runId);
  const log = readLogOf(store, runId);
  const ledger = new Ledger(store.root);
  const near = problemsOf(readLedger(ledger, { timesMs: log === undefined ? [] : [lastEndOf(log)] }));
  // Recovery adds the line of a lost run later, and the clock may have been set.
  return (near.length === 0 ? near : problemsOf(readLedger(ledger, { runId }))).map(inLedger);

  function problemsOf(chain: LedgerChain): LedgerProblem[] {
    const found = chain.runs.has(runId) ? checkRun(store, runId, chain) : isEnded ? 'missing' : undefined;
    const ofRun = found === 'missing' ? [missingFrom(chain, runId)] : found === undefined ? [] : [found];
    return [...chain.problems.filter(({ run_id }) => run_id === runId || run_id === ''), ...ofRun];
  }
}

/** The ends of a run in the ledger, some of which were added at these times. */
export function entriesOf(store: FileRunStore, runId: string, timesMs: readonly number[]): EnteredRun[] {
  const ledger = new Ledger(store.root);
  const near = readLedger(ledger, { timesMs }).runs.get(runId) ?? [];
  return near.length >= timesMs.length ? near : (readLedger(ledger, { runId }).runs.get(runId) ?? []);
}

function checkRun(
  store: FileRunStore,
  runId: string,
  chain: LedgerChain,
): LedgerProblem | 'missing' | undefined {
  const { path, line, ...entry } = chain.runs.get(runId)!.at(-1)!;
  const found = (problem: string) => ({ run_id: runId, path, problem, line });
  const log = readLogOf(store, runId);
  if (log === undefined) {
    if (chain.cleaned.has(runId)) return undefined;
    return found('the run is in the ledger, but no longer in the store');
  }
  const entered = firstLines(log, entry.events);
  const isAsEntered = sha256(entered) === entry.sha256;
  // A resumed run gets another ledger line when it ends; until then its log is longer than its last line records.
  if (isAsEntered && (entered.length === log.length || !hasEnded(store, runId))) return undefined;
  if (isAsEntered && endsWithAnEnd(log)) return 'missing';
  return found('the event log is not the one that was entered when the run ended');
}

function missingFrom({ end }: LedgerChain, run_id: string): LedgerProblem {
  const problem = 'the run has ended, but its end is not in the ledger: the line was removed';
  return { run_id, path: end.path, problem, line: end.line + 1, from: end.at, to: end.at };
}

function inLedger(problem: LedgerProblem): VerifyProblem {
  return { where: 'ledger', ...problem };
}

function endsWithAnEnd(log: Buffer): boolean {
  const from = log.lastIndexOf(10, log.length - 2) + 1;
  return parseObject(log.toString('utf8', from))?.type === 'runner_end';
}

/** When the last end in a log was written, in milliseconds since 1970. */
function lastEndOf(log: Buffer): number {
  const at = log.lastIndexOf(END_MARK);
  if (at === -1) return Number.NaN;
  const end = log.indexOf(10, at);
  const event = parseObject(log.toString('utf8', log.lastIndexOf(10, at) + 1, end === -1 ? log.length : end));
  return Date.parse(String(event?.ts));
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

function firstLines(bytes: Buffer, count: number): Buffer {
  let end = 0;
  for (let left = count; left > 0; left--) {
    const newline = bytes.indexOf(10, end);
    if (newline === -1) return bytes;
    end = newline + 1;
  }
  return bytes.subarray(0, end);
}

function readLogOf(store: FileRunStore, runId: string): Buffer | undefined {
  try {
    return readFileSync(store.layout(runId).events);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof AcorError) return undefined;
    throw storageError(error, 'read the event log', runId);
  }
}
