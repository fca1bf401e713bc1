import * as z from 'zod';
import { runsView } from '../../cli/present/runs.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import { readRun } from '../../core/run/read-run.ts';
import { blockingQuestionsOf } from '../../core/supervision/follow-run.ts';
import { acorOperation } from '../define.ts';
import { runLine } from '../shapes.ts';
import { clocksOf } from './run-clocks.ts';

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
    for (const runId of (await store.list()).reverse()) {
      // A folder that holds no readable run is not a run.
      const record = await readRun(store, runId).catch(() => undefined);
      if (record === undefined) continue;
      if (input.tool !== undefined && record.tool !== input.tool) continue;
      if (input.state !== undefined && record.state !== input.state) continue;
      const { run_id, tool, state, code, message, attempt, created_at, duration_s, lost } = record;
      const question = state === 'waiting_ai' ? await questionOf(store, runId) : null;
      const times = { created_at, duration_s, ...(await clocksOf(store, record)) };
      runs.push({ run_id, tool, state, code, message, question, attempt, ...times, ...(lost && { lost }) });
    }
    // At a terminal attach puts the question in a dialog; show has the commands that answer it.
    const verb = ctx.interactive ? 'attach' : 'show';
    const waiting = runs.filter(({ question }) => question !== null).slice(0, MAX_NEXT);
    return { kind: 'data', data: { runs }, next: waiting.map(({ run_id }) => `acor ${verb} ${run_id}`) };
  },
  render: ({ runs }, screen) => runsView(runs, screen, Date.now()),
});

/** What a run stands still for; null when its log cannot say. */
async function questionOf(store: RunStore, runId: string): Promise<string | null> {
  try {
    const [first] = await blockingQuestionsOf(store, runId);
    return first === undefined ? null : String(first.asked.action);
  } catch {
    return null;
  }
}
