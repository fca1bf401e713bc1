import { Ledger } from '../store-files/ledger.ts';
import { sha256 } from '../store-files/ledger-line.ts';
import type { KeptEffect, KeptRun } from './kept-run.ts';

/** A list of paths has at most this many; the count is that of all. */
export const MAX_PATHS = 1000;

/** Enters an effect in the ledger, and in the list of the run. */
export async function recordEffect(
  { runId, root, by }: { runId: string; root: string; by: string },
  kept: KeptRun,
  effect: KeptEffect['effect'],
  paths: readonly string[],
): Promise<void> {
  const count = paths.length;
  await new Ledger(root).append({
    type: effect,
    run_id: runId,
    by,
    changes: count,
    paths_sha256: sha256(paths.join('\0')),
  });
  const ts = new Date().toISOString();
  kept.effects.push({ ts, effect, by, paths: paths.slice(0, MAX_PATHS), count });
  kept.store();
}
