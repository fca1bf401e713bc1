import { resolve } from 'node:path';
import * as z from 'zod';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { executedWords, WAYS_TO_EXECUTE, type WayToExecute } from '../../core/review/executed-later.ts';
import type { applyKept, SettledRun } from '../../core/review/settle.ts';
import { keptSteps, undecidedPlaces } from '../../core/review/undecided.ts';
import { stillGranted } from '../../core/run/plan/still-granted.ts';
import { readRun } from '../../core/run/read-run.ts';
import { recoverRun } from '../../core/run/recover-lost-run.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { attachTo, diffRun, type NextStep, RECOVER_LOST_RUNS } from '../../protocol/next-steps.ts';
import { isFinal, isOrchestration } from '../../protocol/run.ts';
import { realPathOf } from '../../util/real-path.ts';
import type { AcorApp } from '../acor-app.ts';
import { requirePerson } from '../needs-person.ts';
import { runId } from '../shapes.ts';

const MAX_WARNINGS = 20;

/** The input of the operations that settle the changes of a run. */
export const settleInput = z.object({
  run: runId,
  paths: z
    .array(z.string())
    .default([])
    .describe('Only these files and folders, with everything in them; all when there are none.'),
  dry_run: z
    .boolean()
    .default(false)
    .describe('Check for conflicts and show what would change, and change nothing.'),
});

export const settled = z.lazy(() =>
  z.object({
    run_id: z.string(),
    paths: z.array(z.string()).describe('The entries that were changed, or would be.'),
    refused: z
      .array(z.object({ path: z.string(), why: z.enum(['special', 'leads_out']) }))
      .describe('Changes that are never put in place: pipes, devices and sockets, and links that lead out.'),
    executed: z
      .array(z.object({ path: z.string(), way: z.enum(WAYS_TO_EXECUTE) }))
      .describe('Applied changes that other programs may execute: read each of them first.'),
    left: z.int().describe('How many changes of the run are not settled.'),
    dry_run: z.boolean(),
  }),
);

/**
 * The ended run whose changes are settled or shown. One that writes recovers a lost run first: only then its changes are listed. Throws
 * E_USAGE for a live run, and for a lost one without `writes`.
 */
export async function endedRun(
  run: string,
  ctx: OperationContext<AcorApp>,
  { writes }: { writes: boolean },
): Promise<SettledRun> {
  const project = await ctx.app.project();
  const { state, lost } = await (writes ? recoverRun(project, run) : readRun(project.store, run));
  if (lost) {
    throw new AcorError('E_USAGE', `run ${run} lost its supervisor, so its changes are not listed yet`, {
      hint: 'Recover the run first: that ends it and lists what it changed.',
      next: [RECOVER_LOST_RUNS],
    });
  }
  if (!isFinal(state)) {
    throw new AcorError('E_USAGE', `run ${run} has not ended (${state})`, {
      hint: 'Wait until the run ends, or cancel it first.',
      next: [attachTo(run)],
    });
  }
  const { workspaces } = project;
  const record = await readRun(project.store, run);
  return {
    runId: run,
    dir: workspaces.of(run).dir,
    root: workspaces.root,
    by: ctx.app.principal.name,
    check: () => ctx.signal.throwIfAborted(),
    whyNot: await stillGranted(project, record, { cwd: ctx.cwd, env: ctx.env }),
  };
}

/** Which runs below a run keep changes, in words, and what can be done with them. */
export async function keptBelow(
  run: string,
  ctx: OperationContext<AcorApp>,
): Promise<{ words: string | undefined; next: NextStep[] }> {
  const project = await ctx.app.project();
  const record = await readRun(project.store, run);
  const { stepsForKeptBelow, undecidedBelow } = await import('../../core/run/kept-below.ts');
  const below = await undecidedBelow(project, record);
  const runs = below.map(({ runId }) => runId);
  if (runs.length === 0) return { words: undefined, next: [] };
  const words = isOrchestration(record.kind)
    ? `the changes of run ${run} are in the runs of its steps: ${runs.join(', ')}`
    : `runs that run ${run} has started keep changes: ${runs.join(', ')}`;
  return { words, next: stepsForKeptBelow(project, below) };
}

/** Refuses a run of which only runs below it keep changes: each of these is decided about by itself. Throws E_USAGE. */
export async function refuseParent(run: string, ctx: OperationContext<AcorApp>): Promise<void> {
  const { workspaces } = await ctx.app.project();
  if (undecidedPlaces(workspaces.of(run).dir).length > 0) return;
  const { words, next } = await keptBelow(run, ctx);
  if (words === undefined) return;
  throw new AcorError('E_USAGE', words, { hint: 'Decide about the changes of each of these runs.', next });
}

/** The paths as changes name them: absolute, with the links above them resolved. */
function changedPaths(paths: readonly string[], cwd: string): string[] {
  return paths.map((path) => {
    const at = resolve(cwd, path);
    const slash = at.lastIndexOf('/');
    // The entry itself may be a link that the run has made.
    return `${realPathOf(at.slice(0, slash) || '/', cwd).path.replace(/\/$/, '')}/${at.slice(slash + 1)}`;
  });
}

/** A warning for each change that may be executed later, up to a number. */
export function executionWarnings(executed: readonly { path: string; way: WayToExecute }[]): string[] {
  const shown = executed.slice(0, MAX_WARNINGS).map(({ path, way }) => executedWords(path, way));
  const more = executed.length - shown.length;
  return more > 0 ? [...shown, `${more} further changes may be executed later, too`] : shown;
}

/** Settles changes of a run for a person who has seen them, and says what can still be done with the others. */
export async function settleChanges(
  decision: 'apply' | 'undo',
  settle: typeof applyKept,
  { run, paths, dry_run }: z.output<typeof settleInput>,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<z.output<typeof settled>>> {
  const ended = await endedRun(run, ctx, { writes: !dry_run });
  await refuseParent(run, ctx);
  if (!dry_run) {
    const what =
      decision === 'apply' ? 'put the changes of a run in place' : 'restore what a run has changed';
    const { config } = await ctx.app.tools();
    const { principal } = ctx.app;
    const decider = { person: ctx.person, principal, root: config.root, env: ctx.env };
    await requirePerson(decision, decider, { what, next: [diffRun(run)] });
  }
  const {
    paths: changed,
    refused,
    executed,
    unmatched,
    left,
  } = await settle(ended, changedPaths(paths, ctx.cwd), dry_run);
  return {
    kind: 'data',
    data: { run_id: run, paths: changed, refused, executed, left, dry_run },
    next: [...keptSteps(run, ended.dir), ...(await keptBelow(run, ctx)).next],
    warnings: [
      ...executionWarnings(executed),
      ...unmatched.map((path) => `the run has no undecided change at ${path}`),
    ],
  };
}
