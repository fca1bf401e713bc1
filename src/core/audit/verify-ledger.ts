import { readFileSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run-state.ts';
import { errorCode } from '../../util/error-code.ts';
import { parseObject } from '../../util/parse-object.ts';
import { GENESIS, holdsItsHash, Ledger, sha256 } from '../store-files/ledger.ts';
import type { RunStore } from '../store-files/run-store.ts';
import { storageError } from '../store-files/storage-error.ts';
import type { PlaceProblem, VerifyProblem } from './verify.ts';

/** An ending of a run as the ledger has it: how many events there were, and the hash of their bytes. */
export interface EnteredRun {
  run_id: string;
  line: number;
  events: number;
  sha256: string;
}

interface LedgerLine {
  line: number;
  from: number;
  to: number;
  entry: Record<string, unknown>;
}

/** Checks the chain of the ledger, that every run in it is still there and is the one that was entered, and that no run which has ended is missing. */
export function verifyLedger(store: RunStore, only?: string): VerifyProblem[] {
  const { path } = new Ledger(store.root);
  // Looked at before the ledger is: a run is entered there before its record says that it has ended.
  const ended = only === undefined ? endedRuns(store) : endedRuns(store).filter((runId) => runId === only);
  const { lines, problems } = readChain(path);
  const entered = runsIn(lines);
  const missing = new Set(ended.filter((runId) => !entered.has(runId)));
  for (const [runId, runs] of entered) {
    if (only !== undefined && runId !== only) continue;
    const found = checkRun(store, runId, runs);
    if (found === 'missing') missing.add(runId);
    else if (found !== undefined) problems.push(found);
  }
  const from = lines.at(-1)?.to ?? 0;
  for (const run_id of missing) {
    const problem = 'the run has ended, but its end is not in the ledger: the line was removed';
    problems.push({ run_id, problem, line: lines.length + 1, from, to: from });
  }
  return problems
    .filter(({ run_id }) => only === undefined || run_id === only || run_id === '')
    .map((problem) => ({ where: 'ledger' as const, path, ...problem }));
}

/** The endings that the ledger has of one run, or of all of them; those of runs that were cleaned are left out. */
export function entriesOf(store: RunStore, runId?: string): EnteredRun[] {
  const entered = runsIn(readChain(new Ledger(store.root).path).lines);
  return runId === undefined ? [...entered.values()].flat() : (entered.get(runId) ?? []);
}

type Found = PlaceProblem & { run_id: string };

/** Every line holds its own hash, which names a changed one, and that of the line before, which gives away every other change. */
function readChain(path: string): { lines: LedgerLine[]; problems: Found[] } {
  const bytes = readWhole(path);
  const lines: LedgerLine[] = [];
  const problems: Found[] = [];
  let prev = GENESIS;
  let isPrevKnown = true;
  for (let from = 0, line = 1; from < bytes.length; line++) {
    const newline = bytes.indexOf(10, from);
    const to = newline === -1 ? bytes.length : newline + 1;
    const text = bytes.subarray(from, newline === -1 ? to : newline);
    const entry = parseObject(text.toString('utf8'));
    const report = (problem: string) =>
      problems.push({ run_id: String(entry?.run_id ?? ''), problem, line, from, to });
    const isWhole = holdsItsHash(text);
    if (newline === -1) report('the last line has no end: a write was cut short, or something was added');
    else if (entry === undefined) report('the line is not a JSON object');
    else if (!isWhole) report('the line was changed: it does not have the hash that it names');
    else if (isPrevKnown && entry.prev !== prev)
      report(
        `line ${line - 1 || 'before'} was changed, removed, added or moved: its hash is not the one kept here`,
      );
    if (newline !== -1 && entry !== undefined) lines.push({ line, from, to, entry });
    prev = sha256(text);
    isPrevKnown = isWhole;
    from = to;
  }
  return { lines, problems };
}

function runsIn(lines: readonly LedgerLine[]): Map<string, EnteredRun[]> {
  const entered = new Map<string, EnteredRun[]>();
  for (const { line, entry } of lines) {
    const runId = String(entry.run_id);
    if (entry.type === 'cleaned') entered.delete(runId);
    else {
      const run = { run_id: runId, line, events: Number(entry.events), sha256: String(entry.events_sha256) };
      entered.set(runId, [...(entered.get(runId) ?? []), run]);
    }
  }
  return entered;
}

function checkRun(
  store: RunStore,
  runId: string,
  runs: readonly EnteredRun[],
): Found | 'missing' | undefined {
  const last = runs.at(-1)!;
  const found = (problem: string) => ({ run_id: runId, line: last.line, problem });
  const log = readLogOf(store, runId);
  if (log === undefined) return found('the run is in the ledger, but not in the store any more');
  const entered = firstLines(log, last.events);
  const isAsEntered = sha256(entered) === last.sha256;
  // A run that was begun again is entered anew when it ends; until then its log goes on behind what was entered.
  if (isAsEntered && (entered.length === log.length || !hasEnded(store, runId))) return undefined;
  if (isAsEntered && endsWithAnEnd(log)) return 'missing';
  return found('the event log is not the one that was entered when the run ended');
}

function endsWithAnEnd(log: Buffer): boolean {
  const from = log.lastIndexOf(10, log.length - 2) + 1;
  return parseObject(log.toString('utf8', from))?.type === 'runner_end';
}

function endedRuns(store: RunStore): string[] {
  return store.list().filter((runId) => hasEnded(store, runId));
}

/** False also for a run whose record cannot be read, which is told of elsewhere. */
function hasEnded(store: RunStore, runId: string): boolean {
  try {
    return isFinal(store.read(runId).state);
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

function readLogOf(store: RunStore, runId: string): Buffer | undefined {
  try {
    return readFileSync(store.layout(runId).events);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof AcorError) return undefined;
    throw storageError(error, 'read the event log', runId);
  }
}

/** The bytes of the ledger. A line that is just being written may be seen in part, and is whole at the next look. */
function readWhole(path: string): Buffer {
  try {
    for (let before = -1; ; ) {
      const bytes = readFileSync(path);
      if (bytes.length === before || bytes.length === 0 || bytes.at(-1) === 10) return bytes;
      before = bytes.length;
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw storageError(error, 'read the ledger', path);
  }
}
