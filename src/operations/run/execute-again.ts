import { relative } from 'node:path';
import type * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { summariseLog } from '../../core/run/log-summary.ts';
import type { ToolPlan } from '../../core/run/plan/tool-plan.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import type { MeasuredArtifact } from '../../core/store-files/artifacts.ts';
import { recordedRequest } from '../../core/supervision/recorded-request.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { shellCommand } from '../../util/shell-quote.ts';
import type { AcorApp } from '../acor-app.ts';
import { callerOf } from './caller.ts';
import { compareArtifacts } from './compare-artifacts.ts';
import { type Replayed, reportComparison } from './report-comparison.ts';
import { type shownPlan, showPlan } from './show-plan.ts';

/** The flags of `acor replay` that say how a run is executed again. */
export interface ExecuteFlags {
  stream: boolean;
  dry_run: boolean;
  force: boolean;
  plan?: string | undefined;
}

/** A run that was started and is not over. */
type Started = { run_id: string; state: string; dir: string };

/** Runs the tool of a recorded run once more, as a new run, and says which artifacts differ. */
export async function executeAgain(
  record: RunRecord,
  flags: ExecuteFlags,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<Replayed | z.output<typeof shownPlan>>> {
  const services = await ctx.app.services();
  const recorded = await recordedRequest(services.store, record, ctx.env);
  const { manifest } = await services.registry.find(record.tool);
  const caller = callerOf(ctx.env);
  const request: RunRequest = {
    ...recorded,
    ...(flags.plan !== undefined && { planToken: flags.plan }),
    ...(caller !== undefined && { caller }),
  };
  if (flags.dry_run) return withCommand(await showPlan(services, request), record, manifest.effects);
  if (manifest.effects === 'destroys' && !flags.force) throw destroys(record);
  const { planRun } = await import('../../core/run/plan/plan.ts');
  const targets = targetsOf(services, await planRun(services, request));
  const result = await run(services, request, manifest.actions.length > 0, flags, ctx);
  const summary = 'data' in result ? result.data : undefined;
  if (summary === undefined || !isSummary(summary)) return uncompared(result, record, ctx);
  const before = {
    runId: record.run_id,
    artifacts: ((await summariseLog(services.store, record.run_id)).end?.artifacts ??
      []) as MeasuredArtifact[],
  };
  const artifacts = compareArtifacts(
    before,
    { runId: summary.run_id, artifacts: summary.artifacts },
    targets,
  );
  const same = artifacts.differing.length === 0;
  const data = { run_id: summary.run_id, replays: record.run_id, state: summary.state, artifacts, same };
  return reportComparison(result, data, ctx);
}

async function run(
  services: RunnerServices,
  request: RunRequest,
  mayAsk: boolean,
  { stream }: ExecuteFlags,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<RunSummary | Started>> {
  const flags = { stream, detach: false, exit_code: 'acor' } as const;
  if (mayAsk) {
    const { runApart } = await import('./run-detached.ts');
    return runApart(request, flags, ctx);
  }
  const { runHere } = await import('./run-inline.ts');
  return runHere(services, request, flags, ctx);
}

function isSummary(answer: RunSummary | Started): answer is RunSummary {
  return 'artifacts' in answer;
}

/** The outputs that stay in a run's folder, by their place in it, and where they would stand otherwise. */
function targetsOf({ store }: RunnerServices, { runId, staged }: ToolPlan): Map<string, string> {
  const { dir } = store.layout(runId);
  return new Map(staged.map((output) => [relative(dir, output.staged), output.target]));
}

/** The run waits for an answer, or nobody follows it any more: there is nothing to compare yet. */
function uncompared(
  result: OperationResult<unknown>,
  { run_id }: RunRecord,
  ctx: OperationContext<AcorApp>,
): OperationResult<never> {
  ctx.note(`acor: the artifacts are not compared; those of the recorded run: acor artifacts ${run_id}`);
  return result as OperationResult<never>;
}

function withCommand(
  shown: OperationResult<z.output<typeof shownPlan>>,
  { run_id }: RunRecord,
  effects: string | undefined,
): OperationResult<z.output<typeof shownPlan>> {
  if (shown.kind !== 'data') return shown;
  const { token } = shown.data;
  const force = effects === 'destroys' ? ['--force'] : [];
  const plan = token === null ? [] : ['--plan', token];
  return { ...shown, next: [shellCommand(['acor', 'replay', run_id, '--execute', ...force, ...plan])] };
}

function destroys({ run_id, tool }: RunRecord): AppError {
  return new AppError('E_USAGE', `'${tool}' destroys things (effects: destroys), and would do so once more`, {
    hint: 'Look at what it would do with --dry-run; if that is meant, add --force.',
    next: [`acor replay ${run_id} --execute --dry-run`],
  });
}
