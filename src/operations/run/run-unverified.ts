import { whyUnverified } from '../../core/audit/verify.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';

/** Hashed in a few milliseconds. */
const MAX_LOG_BYTES = 1_000_000;

/** Why a run cannot be presented as fact; undefined where it can, and where only `run.verify` finds out. */
export function unverified(store: FileRunStore, runId: string, maxBytes = MAX_LOG_BYTES): string | undefined {
  try {
    return whyUnverified(store, runId, { maxBytes });
  } catch {
    // Another process removed the run meanwhile, or what reads it reports why it cannot be read.
    return undefined;
  }
}

export function unverifiedWords(runId: string, why: string): string {
  return `${runId} is unverified, and what is shown of it may be forged: ${why}`;
}
