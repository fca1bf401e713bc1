import * as z from 'zod';
import { recoverIfLost } from '../../core/run/recover-lost-run.ts';
import type { RunStore } from '../../core/store-files/run-store.ts';
import { attachTo, showRun } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { acorOperation } from '../define.ts';
import { runLine } from '../shapes.ts';
import { blockingQuestionsOf } from './follow-run.ts';
import { clocksOf } from './run-clocks.ts';
import { runsView } from './runs-view.ts';

/** So many of the runs that wait for an answer are led on to. */
const MAX_NEXT = 3;

export const runList = acorOperation({
  name: 'run.list',
  summary: 'List the runs of this project, the newest first.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().optional().describe('Only runs of this tool.'),
    state: z
      .enum(['queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled'])
      .optional()
      .describe('Only runs in this state.'),
  }),
  output: z.object({ runs: z.array(runLine) }),
  list: 'runs',
  example: 'acor runs --limit 10',
  moreExamples: ['acor runs --tool data_migrator --state failed'],
  async run(input, ctx) {
    const { store } = await ctx.app.project();
    const runs: z.output<typeof runLine>[] = [];
    for (const runId of store.list().reverse()) {
      const record = await readSettled(store, runId);
      if (record === undefined) continue;
      if (input.tool !== undefined && record.tool !== input.tool) continue;
      if (input.state !== undefined && record.state !== input.state) continue;
      const { run_id, tool, state, code, message, attempt, created_at, duration_s } = record;
      const question = state === 'waiting_ai' ? await questionOf(store, runId) : null;
      const times = { created_at, duration_s, ...clocksOf(store, record) };
      runs.push({ run_id, tool, state, code, message, question, attempt, ...times });
    }
    // At a terminal attach puts the question in a dialog; show has the commands that answer it.
    const onwards = ctx.interactive ? attachTo : showRun;
    const waiting = runs.filter(({ question }) => question !== null).slice(0, MAX_NEXT);
    return { kind: 'data', data: { runs }, next: waiting.map(({ run_id }) => onwards(run_id)) };
  },
  render: ({ runs }, screen) => runsView(runs, screen, Date.now()),
});

/** A run's record with the truth about its supervisor; undefined for a folder that holds no readable run. */
async function readSettled(store: RunStore, runId: string): Promise<RunRecord | undefined> {
  let record: RunRecord;
  try {
    record = store.read(runId);
  } catch {
    return undefined;
  }
  return recoverIfLost(store, record);
}

/** What a run stands still for; null when its log cannot say. */
async function questionOf(store: RunStore, runId: string): Promise<string | null> {
  try {
    const [first] = await blockingQuestionsOf(store, runId);
    return first === undefined ? null : String(first.asked.action);
  } catch {
    return null;
  }
}
