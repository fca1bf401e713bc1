import type { Answer } from '../../compose/operation.ts';
import { LedgerEnds } from '../../core/audit/ledger-ends.ts';
import { whyOtherCall } from '../../core/audit/verify-record.ts';
import { whyUnverified } from '../../core/audit/why-unverified.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { Ledger } from '../../core/store-files/ledger.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { VERIFY } from '../../protocol/next-steps.ts';

/** Hashed in a few milliseconds. */
const MAX_LOG_BYTES = 1_000_000;

/** Why a run cannot be presented as fact; undefined where it can, and where only `run.verify` finds out. */
export function unverified(store: FileRunStore, runId: string): string | undefined {
  return unverifiedAmong(store, MAX_LOG_BYTES)(runId);
}

/** `unverified` for the runs of a list, which reads the ledger once. Logs of more than `maxBytes` are not read. */
export function unverifiedAmong(
  store: FileRunStore,
  maxBytes: number,
): (runId: string) => string | undefined {
  let ends: LedgerEnds | undefined;
  return (runId) => {
    try {
      ends ??= new LedgerEnds(new Ledger(store.root));
      return whyUnverified(store, runId, { maxBytes, ends });
    } catch (error) {
      if (error instanceof AcorError && error.details?.['pack'] !== undefined) return error.message;
      // Another process removed the run meanwhile, or what reads it reports why it cannot be read.
      return undefined;
    }
  };
}

export function unverifiedWords(runId: string, why: string): string {
  return `${runId} is unverified, and what is shown of it may be forged: ${why}`;
}

/** The warning about a run that cannot be presented as fact; none for any other. */
export function verdictOn(store: FileRunStore, runId: string): string[] {
  const why = unverified(store, runId);
  return why === undefined ? [] : [unverifiedWords(runId, why)];
}

/** An answer about an ended run, with the verdict on it. */
export function withVerdict<T>(answer: Answer<T>, store: FileRunStore, runId: string): Answer<T> {
  const verdict = verdictOn(store, runId);
  if (verdict.length === 0) return answer;
  const warnings = [...verdict, ...(answer.warnings ?? [])];
  if (answer.kind === 'failure') return { ...answer, warnings };
  return { ...answer, warnings, next: [...(answer.next ?? []), VERIFY] };
}

/** One warning for each reason: a damaged pack has many runs. */
export function unverifiedOf(runs: readonly { run_id: string; unverified?: string | undefined }[]): string[] {
  const found = runs.filter((run) => run.unverified !== undefined);
  // `groupBy` takes 0.5 ms when it is first called.
  if (found.length === 0) return [];
  const byReason = Map.groupBy(found, (run) => run.unverified!);
  return Array.from(byReason, ([why, [first, ...others]]) => {
    if (others.length === 0) return unverifiedWords(first!.run_id, why);
    return `${others.length + 1} of these runs are unverified, and what is shown of them may be forged: ${why}`;
  });
}

/** Throws E_INTEGRITY for a run that would be repeated with another call than the recorded one: its record or log was changed. */
export function requireRecorded(store: FileRunStore, runId: string): void {
  const why = whyOtherCall(store, runId) ?? whyUnverified(store, runId, { maxBytes: MAX_LOG_BYTES });
  if (why === undefined) return;
  throw new AcorError('E_INTEGRITY', `run ${runId} is not repeated, because it may be forged: ${why}`, {
    hint: 'Start it as a new run, with the arguments that you want.',
    details: { run_id: runId },
    next: [VERIFY],
  });
}
