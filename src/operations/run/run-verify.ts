import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { verifyOne, verifyStore } from '../../core/audit/verify.ts';
import { livenessOf } from '../../core/run/read-run.ts';
import { RECOVER_LOST_RUNS } from '../../protocol/next-steps.ts';
import { countOf } from '../../util/count-of.ts';
import { acorOperation } from '../define.ts';

const problemShape = z.object({
  run_id: z.string(),
  where: z.enum(['record', 'events', 'artifact', 'ledger']),
  path: z.string(),
  problem: z.string(),
  line: z.int().optional(),
  from: z.int().optional().describe('The offset of the first changed byte.'),
  to: z.int().optional().describe('The offset after the last changed byte.'),
});

const verified = z.object({
  ok: z.boolean(),
  runs: z.array(
    z.object({
      run_id: z.string(),
      ok: z.boolean(),
      sealed: z.boolean().describe('False for a live run, and for a run that lost its supervisor.'),
      events: z.int(),
      sealed_events: z.int().describe('The seq of the last event that a seal covers.'),
      artifacts: z.int(),
      note: z
        .string()
        .nullable()
        .describe(
          'Why no seal covers the whole log: the run is live, lost its supervisor, or was sealed later.',
        ),
      problems: z.array(problemShape),
    }),
  ),
  ledger: z.array(problemShape),
});

export const runVerify = acorOperation({
  name: 'run.verify',
  summary: 'Recompute the seals, the artifacts and the ledger, and report every change.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ run: z.string().optional().describe('The id of one run; by default all runs.') }),
  output: verified,
  positionals: ['run'],
  list: 'runs',
  example: 'acor verify r-0123456789abcdef',
  moreExamples: ['acor verify'],
  async run(input, ctx) {
    const { store } = await ctx.app.project();
    const { runs, ledger } = await (input.run === undefined
      ? verifyStore(store)
      : verifyOne(store, input.run));
    const ok = ledger.length === 0 && runs.every((run) => run.ok);
    const data = { ok, runs, ledger };
    if (ok) {
      const unsealed = await Promise.all(
        runs.filter(({ sealed }) => !sealed).map(({ run_id }) => livenessOf(store, run_id)),
      );
      const next = unsealed.some(({ liveness }) => liveness === 'lost') ? [RECOVER_LOST_RUNS] : [];
      return { kind: 'data', data, ...(next.length > 0 && { next }) };
    }
    const problems = [...runs.flatMap((run) => run.problems), ...ledger];
    const first = problems[0]!;
    const error = new AppError(
      'E_INTEGRITY',
      `${countOf(problems.length, 'difference')} from what was recorded; the first: ${first.path}: ${first.problem}`,
      {
        hint: 'These records were changed or damaged: do not trust them. The data lists every place.',
        next: [],
      },
    );
    return { kind: 'failure', error, data };
  },
});
