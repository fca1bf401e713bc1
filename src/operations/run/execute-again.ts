import { relative } from 'node:path';
import type * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { OperationContext, OperationResult, StreamEnd } from '../../compose/operation.ts';
import { givenInputOf } from '../../core/run/attempt/given-input.ts';
import { toolMayAsk } from '../../core/run/may-ask.ts';
import type { ToolPlan } from '../../core/run/plan/tool-plan.ts';
import { summariseLog } from '../../core/run/read-log.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import type { MeasuredArtifact } from '../../core/store-files/artifacts.ts';
import { recordedRequest } from '../../core/supervision/recorded-request.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { listArtifacts, previewReplay, seeRecording } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { AcorApp } from '../acor-app.ts';
import type { EndedRun, StartedRun } from '../shapes.ts';
import { compareArtifacts, comparisonEnd, type Replayed } from './compare-artifacts.ts';
import { requireRecorded } from './run-unverified.ts';
import { sameFlags } from './same-flags.ts';
import { type shownPlan, showPlan } from './show-plan.ts';

/** The flags of `acor replay` for `--execute`. */
export interface ExecuteFlags {
  stream?: boolean | undefined;
  dry_run: boolean;
  force: boolean;
  plan?: string | undefined;
}

/** Runs the tool of a recorded run again, as a new run, and reports which artifacts differ. */
export async function executeAgain(
  record: RunRecord,
  flags: ExecuteFlags,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<Replayed | z.output<typeof shownPlan>>> {
  const services = await ctx.app.services();
  requireRecorded((await ctx.app.project()).store, record.run_id);
  const recorded = await recordedRequest(services, record, {
    env: ctx.env,
    by: ctx.app.principal.name,
  });
  if (recorded.answers?.length) await authorizeAnswers(record, ctx.app);
  const tool = await services.registry.find(recorded.tool, recorded);
  const { manifest } = tool;
  const { caller } = ctx.app;
  const request: RunRequest = {
    ...recorded,
    ...(tool.readsStdin && { input: givenInputOf(services.workspaces.of(record.run_id)) }),
    ...(flags.plan !== undefined && { planToken: flags.plan }),
    ...(caller !== undefined && { caller }),
  };
  if (flags.dry_run)
    return withCommand(await showPlan(services, request), record, {
      ...flags,
      force: manifest.effects === 'destroys',
    });
  if (manifest.effects === 'destroys' && !flags.force) throw destroys(record);
  const { planRun } = await import('../../core/run/plan/plan.ts');
  const targets = targetsOf(await planRun(services, request));
  const started = await run(services, request, toolMayAsk(tool, services.config), flags, ctx);
  // Without --detach a started run always has events.
  if (started.kind !== 'events') throw new Error('the run that was started has no events');
  return { ...started, ended: async () => compared(await started.ended(), record, targets, services, ctx) };
}

/** To repeat recorded answers is to answer beforehand. Throws E_POLICY_DENIED for a caller who may not. */
async function authorizeAnswers({ run_id: run }: RunRecord, app: AcorApp): Promise<void> {
  try {
    await app.authorizeOwnAnswers();
  } catch (error) {
    if (!(error instanceof AcorError) || error.code !== 'E_POLICY_DENIED') throw error;
    const { code, message, hint, details } = error;
    throw new AppError(code, message, { hint, details, next: [seeRecording(run)] });
  }
}

/** Adds the comparison with the recorded artifacts to the end of the new run. */
async function compared(
  end: StreamEnd<EndedRun | StartedRun>,
  record: RunRecord,
  targets: Map<string, string>,
  { store }: RunnerServices,
  ctx: OperationContext<AcorApp>,
): Promise<StreamEnd<Replayed>> {
  const { data: summary } = end.answer;
  if (summary === undefined || !isSummary(summary)) {
    // The run waits for an answer, or the caller stopped following it: there is nothing to compare yet.
    ctx.note(
      `acor: the new run has not ended, so its artifacts were not compared. List the recorded ones with: ${ctx.app.commandOf(listArtifacts(record.run_id))}`,
    );
    return end as StreamEnd<never>;
  }
  const { end: recordedEnd } = await summariseLog(store, record.run_id);
  const before = {
    runId: record.run_id,
    artifacts: (recordedEnd?.artifacts ?? []) as MeasuredArtifact[],
  };
  const now = { runId: summary.run_id, artifacts: summary.artifacts };
  const artifacts = compareArtifacts(before, now, targets);
  const same = artifacts.differing.length === 0;
  const data = { run_id: summary.run_id, replays: record.run_id, state: summary.state, artifacts, same };
  return comparisonEnd(end.answer, data);
}

async function run(
  services: RunnerServices,
  request: RunRequest,
  mayAsk: boolean,
  { stream }: ExecuteFlags,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<EndedRun | StartedRun>> {
  const flags = { stream, detach: false, exit_code: 'acor' } as const;
  if (mayAsk) {
    const { runApart } = await import('./run-detached.ts');
    return runApart(request, flags, ctx);
  }
  const { runHere } = await import('./run-inline.ts');
  return runHere(services, request, flags, ctx);
}

function isSummary(answer: EndedRun | StartedRun): answer is EndedRun {
  return 'artifacts' in answer;
}

/** Maps each output that stays in the run's folder to its target. */
function targetsOf({ workspace, staged }: ToolPlan): Map<string, string> {
  const { dir } = workspace;
  return new Map(staged.map((output) => [relative(dir, output.staged), output.target]));
}

function withCommand(
  shown: OperationResult<z.output<typeof shownPlan>>,
  { run_id }: RunRecord,
  flags: ExecuteFlags,
): OperationResult<z.output<typeof shownPlan>> {
  if (shown.kind !== 'data') return shown;
  const { token } = shown.data;
  const input = {
    run: run_id,
    execute: true,
    ...sameFlags({ stream: flags.stream, force: flags.force }),
    plan: token ?? undefined,
  };
  return { ...shown, next: [{ operation: 'run.replay', input, why: 'Execute the run again, as shown.' }] };
}

function destroys({ run_id, tool }: RunRecord): AppError {
  return new AppError(
    'E_USAGE',
    `tool '${tool}' is destructive (effects: destroys), and executing the run again would repeat that`,
    {
      hint: 'Preview it with --dry-run. To execute it, add --force.',
      next: [previewReplay(run_id)],
    },
  );
}
