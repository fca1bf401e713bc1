import * as z from 'zod';
import { settleIfLost } from '../core/runner/settle-lost.ts';
import type { RunStore } from '../core/storage/run-store.ts';
import type { RunRecord } from '../protocol/run-record.ts';
import { acorOperation } from './define.ts';
import { clocksOf } from './run-clocks.ts';
import { runLine } from './shapes.ts';
import { ageOf, tableOf } from './views.ts';

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
      const { run_id, tool, state, code, attempt, created_at, duration_s } = record;
      runs.push({ run_id, tool, state, code, attempt, created_at, duration_s, ...clocksOf(store, record) });
    }
    return { kind: 'data', data: { runs } };
  },
  render({ runs }, screen) {
    const rows = runs.map(({ run_id, tool, state, code, created_at, duration_s }) => ({
      run: run_id,
      tool,
      state: code ?? state,
      age: ageOf(created_at),
      seconds: duration_s,
    }));
    return tableOf(rows, screen, ['run', 'state'], 'No runs yet: start one with acor run <tool>.');
  },
});

/** A run's record with the truth about its supervisor; undefined for a folder that holds no readable run. */
async function readSettled(store: RunStore, runId: string): Promise<RunRecord | undefined> {
  let record: RunRecord;
  try {
    record = store.read(runId);
  } catch {
    return undefined;
  }
  return settleIfLost(store, record);
}
