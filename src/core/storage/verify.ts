import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run-state.ts';
import type { RunnerEnd } from '../../protocol/v1/runner-events.ts';
import { errorCode } from '../../util/error-code.ts';
import { type MeasuredArtifact, measureArtifact } from './artifacts.ts';
import { GENESIS, Ledger, sha256 } from './ledger.ts';
import { isLive } from './lost-runs.ts';
import type { RunStore } from './run-store.ts';
import { firstBrokenMark } from './seal.ts';
import { storageError } from './storage-error.ts';

/** One thing that is not as it was recorded. Offsets are bytes; `to` is not part of the range. */
export interface VerifyProblem {
  run_id: string;
  where: 'record' | 'events' | 'artifact' | 'ledger';
  path: string;
  problem: string;
  line?: number;
  from?: number;
  to?: number;
}

/** What was found of one run. `sealed` is false for a run that never ended, whose events can only be checked for order. */
export interface VerifiedRun {
  run_id: string;
  ok: boolean;
  sealed: boolean;
  events: number;
  artifacts: number;
  problems: VerifyProblem[];
}

/** Recomputes the seal, the order and the artifacts of a run (contract §6), and holds them to what was recorded. */
export function verifyRun(store: RunStore, runId: string): VerifiedRun {
  const { events: path } = store.layout(runId);
  const record = store.read(runId);
  const problems: VerifyProblem[] = [];
  const report = (problem: Omit<VerifyProblem, 'run_id' | 'path' | 'where'>) =>
    problems.push({ run_id: runId, where: 'events', path, ...problem });
  const bytes = readLog(path);
  if (bytes === undefined) {
    report({ problem: 'the event log is gone' });
    return { run_id: runId, ok: false, sealed: false, events: 0, artifacts: 0, problems };
  }
  const lines = checkOrder(bytes, report);
  const ends = lines.filter(({ event }) => event?.type === 'runner_end');
  for (const { event, offset, number } of ends) {
    const seal = sealOf(event);
    if (seal === undefined) {
      report({
        problem: 'the event that ends the run has no seal: the runner did not write it',
        line: number,
      });
      break;
    }
    const broken = firstBrokenMark(bytes.subarray(0, offset), seal);
    if (broken === undefined) continue;
    report({ problem: placeOf(bytes, broken), line: lineAt(bytes, broken.from), ...broken });
    break;
  }
  const last = lines.at(-1);
  const sealed = ends.length > 0 && last?.event?.type === 'runner_end';
  if (isFinal(record.state) && !sealed)
    report({
      problem: 'the run has ended, but its end is not the last thing in its log',
      line: lines.length,
    });
  const end = ends.at(-1)?.event as RunnerEnd | undefined;
  const artifacts = (Array.isArray(end?.artifacts) ? end.artifacts : []) as unknown as MeasuredArtifact[];
  for (const artifact of artifacts) {
    const problem = checkArtifact(artifact);
    if (problem) problems.push({ run_id: runId, where: 'artifact', path: artifact.path, problem });
  }
  return {
    run_id: runId,
    ok: problems.length === 0,
    sealed,
    events: lines.length,
    artifacts: artifacts.length,
    problems,
  };
}

/** Checks every run that is not going on; one that cannot be read is told of like any other fault. */
export function verifyAll(store: RunStore): VerifiedRun[] {
  return store.list().flatMap((runId) => {
    try {
      return isLive(store.read(runId)) ? [] : [verifyRun(store, runId)];
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      const { metadata: path } = store.layout(runId);
      const problem = { run_id: runId, where: 'record' as const, path, problem: error.message };
      return [{ run_id: runId, ok: false, sealed: false, events: 0, artifacts: 0, problems: [problem] }];
    }
  });
}

/** Checks the chain of the ledger, and that every run in it is still there and is the one that was entered. */
export function verifyLedger(store: RunStore, only?: string): VerifyProblem[] {
  const ledger = new Ledger(store.root);
  const problems: VerifyProblem[] = [];
  const entered = new Map<string, { line: number; entry: Record<string, unknown> }>();
  const report = (runId: string, line: number, problem: string) =>
    problems.push({ run_id: runId, where: 'ledger', path: ledger.path, line, problem });
  let prev = GENESIS;
  for (const [index, text] of ledger.lines().entries()) {
    const line = index + 1;
    const entry = parseObject(text);
    if (entry === undefined) report('', line, 'the line is not a JSON object');
    else {
      if (entry.prev !== prev) {
        report(
          String(entry.run_id),
          line,
          `line ${line - 1 || 'before'} was changed, removed, added or moved: its hash is not the one kept here`,
        );
      }
      if (entry.type === 'cleaned') entered.delete(String(entry.run_id));
      else entered.set(String(entry.run_id), { line, entry });
    }
    prev = sha256(text);
  }
  for (const [runId, { line, entry }] of entered) {
    if (only !== undefined && runId !== only) continue;
    const found = hashOfLog(store, runId);
    if (found === undefined) report(runId, line, 'the run is in the ledger, but not in the store any more');
    else if (found !== entry.events_sha256) {
      report(runId, line, 'the event log is not the one that was entered when the run ended');
    }
  }
  return only === undefined ? problems : problems.filter(({ run_id }) => run_id === only || run_id === '');
}

interface Line {
  number: number;
  offset: number;
  event: Record<string, unknown> | undefined;
}

function checkOrder(
  bytes: Buffer,
  report: (problem: { problem: string; line: number; from?: number; to?: number }) => void,
): Line[] {
  const lines: Line[] = [];
  let expected = 1;
  for (let offset = 0; offset < bytes.length; ) {
    const newline = bytes.indexOf(10, offset);
    const number = lines.length + 1;
    if (newline === -1) {
      report({
        problem: 'the last line has no end: it was cut short',
        line: number,
        from: offset,
        to: bytes.length,
      });
      break;
    }
    const event = parseObject(bytes.toString('utf8', offset, newline));
    lines.push({ number, offset, event });
    if (event === undefined)
      report({ problem: 'the line is not a JSON object', line: number, from: offset, to: newline });
    else if (event.seq !== expected) {
      report({
        problem: `seq is ${String(event.seq)} where ${expected} belongs`,
        line: number,
        from: offset,
        to: newline,
      });
      expected = typeof event.seq === 'number' ? event.seq : expected;
    }
    expected++;
    offset = newline + 1;
  }
  return lines;
}

function placeOf(bytes: Buffer, { from, to }: { from: number; to: number }): string {
  const line = lineAt(bytes, from);
  return `the first byte that differs lies in bytes ${from} to ${to - 1}, from line ${line} on`;
}

function lineAt(bytes: Buffer, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(10); at !== -1 && at < offset; at = bytes.indexOf(10, at + 1)) line++;
  return line;
}

function checkArtifact(recorded: MeasuredArtifact): string | undefined {
  return isRedacted(recorded.path) ? checkRenamed(recorded) : checkFile(recorded);
}

function checkFile(recorded: Pick<MeasuredArtifact, 'path' | 'sha256'>): string | undefined {
  try {
    // The project may have been reached through a link.
    const now = measureArtifact(recorded.path, [realpathSync(dirname(recorded.path))]);
    if (now.sha256 === recorded.sha256) return undefined;
    return `its sha256 is ${now.sha256} now; ${recorded.sha256} was recorded`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'it is gone';
    if (error instanceof AcorError) return error.code === 'E_PROTOCOL' ? 'it is gone' : error.message;
    throw error;
  }
}

/** Whether a secret was taken out of a path. */
function isRedacted(path: string): boolean {
  return path.includes('[redacted:');
}

/** A name that held a secret was not recorded: it must be one of those in the folder. */
function checkRenamed({ path, sha256: recorded }: MeasuredArtifact): string | undefined {
  const folder = dirname(path);
  if (isRedacted(folder)) return 'its path held a secret, so it cannot be found again';
  const isThere = namesIn(folder).some(
    (name) => checkFile({ path: join(folder, name), sha256: recorded }) === undefined,
  );
  return isThere
    ? undefined
    : 'its name held a secret, and nothing beside it has the sha256 that was recorded';
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function hashOfLog(store: RunStore, runId: string): string | undefined {
  try {
    return sha256(readFileSync(store.layout(runId).events));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof AcorError) return undefined;
    throw storageError(error, 'read the event log', runId);
  }
}

/** The seal of a `runner_end`, if it is whole: a tool may have written the event. */
function sealOf(event: Record<string, unknown> | undefined): RunnerEnd['seal'] | undefined {
  const seal = (event as Partial<RunnerEnd> | undefined)?.seal;
  const isWhole =
    typeof seal?.bytes === 'number' && typeof seal.sha256 === 'string' && Array.isArray(seal.marks);
  return isWhole && seal.marks.every((mark) => Array.isArray(mark)) ? seal : undefined;
}

function readLog(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, 'read the event log', path);
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
