import type { RunStore } from '../../core/ports/run-store.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_TOOLS } from '../../protocol/next-steps.ts';

/** The newest run that is no part of another one: what `last` means wherever an id is expected. */
export async function lastRun(store: RunStore): Promise<string> {
  for (const runId of (await store.list()).toReversed()) {
    const record = await store.read(runId).catch(() => undefined);
    if (record !== undefined && record.parent === null) return runId;
  }
  throw new AcorError('E_RUN_NOT_FOUND', 'the project has no run yet', {
    hint: 'Run a tool first.',
    next: [LIST_TOOLS],
  });
}
