import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { type VerifiedStore, verifyOne, verifyStore, verifyWithSteps } from '../../core/audit/verify.ts';
import { livenessOf } from '../../core/run/read-run.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { missingRuns } from '../../core/store-files/missing-runs.ts';
import { FORGET_MISSING_RUNS, RECOVER_LOST_RUNS } from '../../protocol/next-steps.ts';
import { isOrchestration } from '../../protocol/run.ts';
import { countOf } from '../../util/count-of.ts';
import { closedByOwner, giveCommand } from '../../util/users.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { stepsBelow } from './artifacts-of.ts';

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
  runs: z
    .array(
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
    )
    .describe(
      'The given run, and the steps of a workflow or a pipe with a problem or a note. Without a run, all runs with a problem or a note. 1,000 at most.',
    ),
  ledger: z.array(problemShape).describe('1,000 at most.'),
  closed: z
    .array(z.string())
    .describe('Runs of another user, which this one may not read: they were not verified. 1,000 at most.'),
  counts: z
    .object({
      runs: z.int().describe('How many runs were verified.'),
      sealed: z.int(),
      events: z.int(),
      artifacts: z.int(),
      problems: z.int(),
    })
    .describe('Of all runs that were verified, and of the ledger.'),
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
    const found = await (input.run === undefined
      ? verifyStore(store)
      : verifyGiven(ctx.app, store, input.run));
    const { runs, ledger, closed, counts } = found;
    const ok = counts.problems === 0 && closed.length === 0;
    const data = { ok, ...found };
    if (ok) {
      const unsealed = await Promise.all(
        runs.filter(({ sealed }) => !sealed).map(({ run_id }) => livenessOf(store, run_id)),
      );
      const next = unsealed.some(({ liveness }) => liveness === 'lost') ? [RECOVER_LOST_RUNS] : [];
      return { kind: 'data', data, ...(next.length > 0 && { next }) };
    }
    if (counts.problems === 0) return { kind: 'failure', error: unread(store, closed), data };
    const problems = [...runs.flatMap((run) => run.problems), ...ledger];
    const first = problems[0]!;
    const missing = input.run === undefined ? missingRuns(store) : [];
    const error = new AppError(
      'E_INTEGRITY',
      `${countOf(counts.problems, 'difference')} from what was recorded; the first: ${first.path}: ${first.problem}`,
      {
        hint: 'These records were changed or damaged: do not trust them. Restore missing files from a backup.',
        next: missing.length === 0 ? [] : [FORGET_MISSING_RUNS],
      },
    );
    return { kind: 'failure', error, data };
  },
});

/** Runs of which nothing is known are no reason to distrust them. */
function unread(store: FileRunStore, closed: readonly string[]): AppError {
  const { dir } = store.layout(closed[0]!);
  const owner = closedByOwner(dir);
  return new AppError(
    'E_PERMISSION',
    `${countOf(closed.length, 'run')} of another user could not be verified, the first: ${closed[0]}, which belongs to ${owner}; no other differs from what was recorded`,
    { hint: `Verify as ${owner}, or as root give it to this user: ${giveCommand(dir)}` },
  );
}

/** A workflow is what its steps have done: they are verified with it. */
async function verifyGiven(app: AcorApp, store: FileRunStore, runId: string): Promise<VerifiedStore> {
  const { kind } = await store.read(runId);
  return isOrchestration(kind)
    ? verifyWithSteps(store, runId, await stepsBelow(app, runId))
    : verifyOne(store, runId);
}
