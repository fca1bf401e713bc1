import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationContext } from '../../compose/operation.ts';
import type { Survivor } from '../../core/process/kill-tree.ts';
import { keptSteps, undecidedPlaces } from '../../core/review/undecided.ts';
import { lostOutcome } from '../../core/run/lost-outcome.ts';
import { lastProgress, stderrTail, summariseLog } from '../../core/run/read-log.ts';
import { readRun } from '../../core/run/read-run.ts';
import { recordedSteps } from '../../core/run/steps-after.ts';
import type { RunHost } from '../../core/run/workspace.ts';
import { STARTED } from '../../core/store-files/layout.ts';
import { attachTo, cancelRun, VERIFY } from '../../protocol/next-steps.ts';
import { isFinal, isOrchestration } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { AcorApp } from '../acor-app.ts';
import { plainCommand } from '../define.ts';
import { listedArtifacts } from './artifacts-of.ts';
import { clocksOf } from './run-clocks.ts';
import { unverified, unverifiedWords } from './run-unverified.ts';
import { answersToShow, questionsToShow } from './shown-questions.ts';

/** One run: its record, and what its log and its folder say. */
export async function shownRunOf(input: { run: string }, ctx: OperationContext<AcorApp>) {
  const { store, workspaces } = await ctx.app.project();
  const record = await readRun(store, input.run);
  const log = await summariseLog(store, input.run);
  const { end, ending, lastEvent } = log;
  const progress = await lastProgress(store, input.run);
  const stderr = record.state === 'failed' ? await stderrTail(store, input.run) : [];
  const { dir } = workspaces.of(input.run);
  const why = unverified(store, input.run);
  const { undecided, steps } = await keptOf({ store, workspaces }, record);
  // The log of a lost run has no end yet.
  const outcome = record.lost && end === undefined ? lostOutcome(record) : undefined;
  const data = {
    ...record,
    dir,
    ...(why && { unverified: why }),
    last_event_at: (lastEvent?.ts as string | undefined) ?? null,
    ...(await clocksOf(store, record, { lastEvent, progress })),
    progress: progress === undefined ? null : pickProgress(progress),
    questions: await questionsToShow(store, record, ctx.app.commandOf),
    result: ending?.type === 'result' ? ending : null,
    error: ending?.type === 'error' ? ending : null,
    ...(typeof end?.cancelled_by === 'string' && { cancelled_by: end.cancelled_by }),
    hint:
      record.state === 'failed'
        ? (outcome?.hint ?? hintOf(end) ?? hintOf(log.failure) ?? hintOf(ending) ?? null)
        : null,
    ...(stderr.length > 0 && { stderr }),
    artifacts: await listedArtifacts(ctx.app, input.run),
    ...(undecided.length > 0 && { undecided }),
    survivors: (end?.survivors as Survivor[] | undefined) ?? [],
    usage: (end?.usage as Record<string, unknown> | undefined) ?? null,
  };
  const next = isFinal(record.state)
    ? [...steps, ...(await recordedSteps(store, record, end))]
    : [...(await answersToShow(store, input.run)), attachTo(input.run), cancelRun(input.run)];
  const warnings = [
    ...(why ? [unverifiedWords(input.run, why)] : []),
    ...((end?.warnings ?? []) as string[]),
  ];
  return { kind: 'data' as const, data, next: why ? [...next, VERIFY] : next, warnings };
}

export const plainRunShow = plainCommand('run.show', shownRunOf);

/** The places whose changes are undecided, of a run and of the runs below it, and the next steps for them. */
async function keptOf(host: RunHost, { run_id, kind }: RunRecord) {
  const { dir } = host.workspaces.of(run_id);
  const undecided = undecidedPlaces(dir).map(({ path, mode, state }) => ({ path, mode, state }));
  const steps = keptSteps(run_id, dir);
  if (!isOrchestration(kind) && !existsSync(join(dir, STARTED))) return { undecided, steps };
  const { stepsForKeptBelow, undecidedBelow } = await import('../../core/run/kept-below.ts');
  const below = await undecidedBelow(host, { run_id, kind });
  const ofOthers = below.flatMap(({ runId, places }) =>
    places.map(({ path, mode, state }) => ({ path, mode, state, run_id: runId })),
  );
  return { undecided: [...undecided, ...ofOthers], steps: [...steps, ...stepsForKeptBelow(host, below)] };
}

function hintOf(event: Readonly<Record<string, unknown>> | undefined): string | undefined {
  return typeof event?.hint === 'string' && event.hint !== '' ? event.hint : undefined;
}

function pickProgress({ step, pct, msg }: Readonly<Record<string, unknown>>) {
  return {
    step: typeof step === 'string' ? step : null,
    pct: typeof pct === 'number' ? pct : null,
    msg: typeof msg === 'string' ? msg : null,
  };
}
