import type { IndexedRun } from '../../core/ports/run-index.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import type { readRun } from '../../core/run/read-run.ts';
import { fileOfWorkflow } from '../../protocol/run.ts';
import type { RunLine } from '../shapes.ts';
import { clocksOf } from './run-clocks.ts';

const NO_CLOCKS = { silent_for_s: null, last_progress_at: null };

/** A run as lists show it: by its record, or by the index when it has ended. */
export async function runLineOf(
  store: RunStore,
  run: IndexedRun | Awaited<ReturnType<typeof readRun>>,
): Promise<RunLine> {
  const { run_id, tool, state, code, message, attempt, created_at, duration_s } = run;
  const record = 'epoch' in run ? run : undefined;
  const question = state === 'waiting_ai' ? await questionOf(store, run_id) : null;
  const clocks = record === undefined ? NO_CLOCKS : await clocksOf(store, record);
  const times = { created_at, duration_s, ...clocks };
  const file = 'given_args' in run ? fileOfWorkflow(run) : run.file;
  const lost = record?.lost && { lost: record.lost };
  return { run_id, tool, state, code, message, question, attempt, ...times, ...(file && { file }), ...lost };
}

/** The question for which a run waits; null when its log cannot be read. */
async function questionOf(store: RunStore, runId: string): Promise<string | null> {
  try {
    // Few runs of a list wait.
    const { blockingQuestionsOf } = await import('../../core/supervision/follow-run.ts');
    const [first] = await blockingQuestionsOf(store, runId);
    return first === undefined ? null : String(first.asked.action);
  } catch {
    return null;
  }
}
