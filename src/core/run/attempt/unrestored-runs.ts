import { existsSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunHost } from '../workspace.ts';
import { readOwnershipRecord } from './ownership-record.ts';
import { restoreOwnership } from './run-user-ownership.ts';

/**
 * The ended runs whose files still belong to the user of the run, because restoring them failed; with `fix`, those for which it fails
 * again. `foreign` has a record that ACOR has not written, which restores nothing.
 */
export async function unrestoredRuns(
  host: RunHost,
  { fix }: { fix: boolean },
): Promise<{ left: string[]; foreign: string[] }> {
  const live = new Set((await host.store.leases.list()).map(({ runId }) => runId));
  const left: string[] = [];
  const foreign: string[] = [];
  for (const runId of await host.store.list()) {
    const workspace = host.workspaces.of(runId);
    if (live.has(runId) || !existsSync(workspace.ownershipRecord)) continue;
    try {
      readOwnershipRecord(workspace);
      if (fix) await restoreOwnership(host, workspace, runId);
    } catch (error) {
      if (error instanceof AcorError && error.code === 'E_INTEGRITY') {
        foreign.push(runId);
        continue;
      }
    }
    if (existsSync(workspace.ownershipRecord)) left.push(runId);
  }
  return { left, foreign };
}
