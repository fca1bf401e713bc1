import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { shortenLedger } from '../../core/audit/shorten-ledger.ts';
import { whyKept } from '../../core/review/undecided.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { removeRuns, selectRemovable } from '../../core/store-files/retention.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { attachTo, diffRun, discardRun } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';
import { namedRun } from './last-run.ts';

export const runRemove = acorOperation({
  name: 'run.remove',
  summary: 'Remove runs that have ended; `clean` removes many by a rule.',
  effect: 'destroys',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    run: runId,
    more: z.array(z.string()).default([]).describe('The ids of more runs.'),
    dry_run: z.boolean().default(false).describe('Show what would be removed, and change nothing.'),
  }),
  output: z.object({
    removed: z.array(z.string()),
    skipped: z
      .array(z.object({ run_id: z.string(), reason: z.string() }))
      .describe('The runs that were left as they are, and why. When all of them are, the call fails.'),
    dry_run: z.boolean(),
  }),
  positionals: ['run', 'more'],
  list: 'removed',
  example: 'acor runs rm r-0123456789abcdef --dry-run',
  async run({ run, more, dry_run }, ctx) {
    const { store } = await ctx.app.project();
    const others = await Promise.all(more.map((name) => namedRun(ctx.app, name)));
    const { removed, problems } = await removeAll(store, new Set([run, ...others]), dry_run);
    const skipped = [...problems].map(([run_id, { message }]) => ({ run_id, reason: message }));
    const [first] = problems.values();
    if (removed.length === 0) throw skipped.length === 1 ? first! : noneRemoved(first!, skipped);
    if (!dry_run) await shortenLedger(store);
    return { kind: 'data', data: { removed, skipped, dry_run }, next: first?.next ?? [] };
  },
});

type Problem = AppError | AcorError;

/** Removes those of the runs that can be removed. Of each other one it returns the problem. */
async function removeAll(
  store: FileRunStore,
  named: ReadonlySet<string>,
  dryRun: boolean,
): Promise<{ removed: string[]; problems: Map<string, Problem> }> {
  const problems = new Map<string, Problem>();
  for (const run of named) {
    const problem = await problemOf(store, run);
    if (problem !== undefined) problems.set(run, problem);
  }
  if (problems.size === named.size) return { removed: [], problems };
  const removable = selectRemovable(store, {}, { mayTake: (id) => named.has(id) && !problems.has(id) });
  const { removed, noRoom } = dryRun
    ? { removed: removable, noRoom: [] }
    : await removeRuns(store, removable);
  for (const { runIds, error } of noRoom) for (const run of runIds) problems.set(run, error);
  for (const run of named) if (!removed.includes(run) && !problems.has(run)) problems.set(run, notEnded(run));
  return { removed, problems };
}

async function problemOf(store: FileRunStore, run: string): Promise<Problem | undefined> {
  try {
    await store.read(run);
  } catch (error) {
    if (error instanceof AcorError) return error;
    throw error;
  }
  const undecided = whyKept(store.layout(run).dir);
  if (undecided === undefined) return undefined;
  return new AppError('E_USAGE', `run ${run} cannot be removed: ${undecided}`, {
    hint: 'Apply, undo or discard them first.',
    next: [diffRun(run), discardRun(run)],
  });
}

function notEnded(run: string): AppError {
  return new AppError('E_USAGE', `run ${run} has not ended, or is part of one that has not`, {
    hint: 'Wait until it ends, or cancel it first.',
    next: [attachTo(run)],
  });
}

function noneRemoved(first: Problem, skipped: readonly { run_id: string; reason: string }[]): AppError {
  return new AppError(first.code, `none of the ${skipped.length} runs can be removed: ${first.message}`, {
    ...(first.hint !== undefined && { hint: first.hint }),
    details: { skipped },
    ...(first.next !== undefined && { next: first.next }),
  });
}
