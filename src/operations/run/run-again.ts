import { existsSync, readdirSync } from 'node:fs';
import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { Operation, OperationContext, OperationResult } from '../../compose/operation.ts';
import type { Rerun, RerunMode } from '../../core/ports/run-launcher.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import { toolMayAsk } from '../../core/run/may-ask.ts';
import { recordedCall } from '../../core/run/recorded-call.ts';
import { isStage } from '../../core/run/repeatable.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import type { WorkflowPlan } from '../../core/workflow/engine/plan-workflow.ts';
import { describeTool, showRun } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { answers, ci, runId, runSummary, startedRun, stream, timeoutOf } from '../shapes.ts';
import { preparedAnswers } from './prepared-answers.ts';
import type { ShownAs } from './run-result.ts';
import { requireRecorded } from './run-unverified.ts';
import { sameFlags } from './same-flags.ts';

export const againInput = z.object({
  run: runId,
  timeout: timeoutOf('this attempt'),
  stream,
  ci,
  detach: z.boolean().default(false).describe('Return the id at once; the run continues in the background.'),
  answer: z
    .array(z.string())
    .default([])
    .describe('ACTION=VALUE, an answer to a question that the tool may ask.'),
  answers,
  force: z
    .boolean()
    .default(false)
    .describe('Also rerun an interrupted tool that is not idempotent: its effects may happen twice.'),
  dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
});

export type AgainFlags = z.output<typeof againInput>;

/** What the next attempt would be. */
const nextAttempt = z.object({
  run_id: z.string(),
  mode: z.enum(['resume', 'retry']),
  tool: z.string(),
  args: z.array(z.string()).describe('The recorded arguments; those of a secret input are masked.'),
  cwd: z.string(),
  attempt: z.int().describe('The number that the attempt would have.'),
  timeout_s: z.number(),
  checkpoints: z.array(z.string()).describe('The checkpoints from which it would continue.'),
  steps_again: z.array(z.string()).describe('The completed steps of a workflow that would run again.'),
  steps_to_run: z
    .array(z.string())
    .describe('The steps of a workflow that would run, unless their conditions skip them.'),
  steps_kept: z.array(z.string()).describe('The steps of a workflow whose results would be kept.'),
  dry_run: z.literal(true),
});

export const againOutput = z.union([runSummary, nextAttempt, startedRun]);

export const runResume = again('resume', {
  name: 'run.resume',
  summary: 'Continue a run that failed, was cancelled or lost its supervisor, from its checkpoints.',
  example: 'acor resume r-0123456789abcdef',
});

export const runRetry = again('retry', {
  name: 'run.retry',
  summary: 'Run an ended run again from the beginning, without its checkpoints and answers.',
  example: 'acor retry r-0123456789abcdef',
});

function again(
  mode: RerunMode,
  words: { name: string; summary: string; example: string },
): Operation<AcorApp, typeof againInput, typeof againOutput> {
  return acorOperation({
    ...words,
    effect: 'writes',
    idempotent: false,
    rateLimit: null,
    input: againInput,
    output: againOutput,
    positionals: ['run'],
    list: 'artifacts',
    streams: 'The protocol events of the new attempt, one JSON object a line; the last line is runner_end.',
    run: (given, ctx) => continueRun(mode, given, ctx),
  });
}

/** Starts the next attempt of a run of any kind, and shows it. */
export async function continueRun(
  mode: RerunMode,
  given: AgainFlags & { from?: string | undefined },
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<z.output<typeof againOutput>>> {
  const services = await ctx.app.services();
  const record = await services.store.read(given.run);
  requireRecorded((await ctx.app.project()).store, given.run);
  if (record.given_args === null) {
    throw new AppError(
      'E_USAGE',
      `run ${given.run} had a secret argument, which ACOR does not store, so it cannot be repeated`,
      {
        hint: 'Start it as a new run, with all of its arguments.',
        ...(record.kind === 'tool' && { next: [describeTool(record.tool)] }),
      },
    );
  }
  await refuseStage(record, services.store);
  const { caller } = ctx.app;
  const answers = await preparedAnswers(given, ctx);
  const request: RunRequest = {
    ...recordedCall(services, record, record.given_args),
    env: ctx.env,
    again: {
      runId: given.run,
      mode,
      force: given.force,
      ...(given.from !== undefined && { from: given.from }),
    },
    ...(record.writes && { writes: record.writes }),
    ...(given.timeout !== undefined && { timeoutS: given.timeout }),
    ...(answers.length > 0 && { answers }),
    ...(caller !== undefined && { caller }),
  };
  if (given.dry_run) return previewAttempt(services, request, { ...request.again!, mode }, given);
  const flags: ShownAs = { ...given, exit_code: 'acor' };
  if (given.detach || (await mayAsk(services, request))) {
    const { runApart } = await import('./run-detached.ts');
    return runApart(request, flags, ctx);
  }
  const { runHere } = await import('./run-inline.ts');
  return runHere(services, request, flags, ctx);
}

async function previewAttempt(
  services: RunnerServices,
  request: RunRequest,
  again: Rerun,
  given: AgainFlags,
): Promise<OperationResult<z.output<typeof nextAttempt>>> {
  const { previewReopening } = await import('../../core/run/reopen-run.ts');
  const { record, plan } = await previewReopening(services, request, again);
  const { checkpoints } = plan.workspace;
  const kept = again.mode === 'resume' && existsSync(checkpoints) ? readdirSync(checkpoints).sort() : [];
  const { operation, from } =
    record.kind === 'workflow' && again.mode === 'resume'
      ? { operation: 'workflow.resume', from: again.from }
      : { operation: `run.${again.mode}`, from: undefined };
  return {
    kind: 'data',
    data: {
      run_id: again.runId,
      mode: again.mode,
      tool: record.tool,
      args: record.args,
      cwd: plan.cwd,
      attempt: record.attempt + 1,
      timeout_s: plan.limits.timeoutS,
      checkpoints: kept,
      steps_again: 'stepsAgain' in plan ? [...(plan as WorkflowPlan).stepsAgain] : [],
      ...('workflow' in plan
        ? await stepsOf(services.store, plan as WorkflowPlan, again)
        : { steps_to_run: [], steps_kept: [] }),
      dry_run: true,
    },
    next: [
      {
        operation,
        input: { ...sameFlags({ ...given, from }), run: again.runId },
        why: 'Start this attempt.',
      },
    ],
  };
}

/** A retry runs every step; a resume keeps those that have completed. Steps of `finally` run whenever another one does. */
async function stepsOf(
  store: RunStore,
  { workflow, stepsAgain }: WorkflowPlan,
  { runId, mode }: Rerun,
): Promise<{ steps_to_run: string[]; steps_kept: string[] }> {
  const [{ readEvents }, { stepStates }] = await Promise.all([
    import('../../core/run/read-log.ts'),
    import('../../core/workflow/graph/graph.ts'),
  ]);
  const states = await stepStates(readEvents(store, runId, { wait: false }));
  const isKept = (name: string) =>
    mode === 'resume' && states.get(name) === 'completed' && !stepsAgain.includes(name);
  const steps = workflow.steps.map(({ name }) => name);
  const toRun = steps.filter((name) => !isKept(name));
  const last = workflow.finally.map(({ name }) => name);
  return {
    steps_to_run: toRun.length > 0 ? [...toRun, ...last] : last.filter((name) => !isKept(name)),
    steps_kept: steps.filter(isKept),
  };
}

/** A stage cannot be repeated alone: the later stages have already used its records. Throws E_USAGE. */
async function refuseStage(record: RunRecord, store: RunStore): Promise<void> {
  const { run_id, parent } = record;
  if (parent === null || !(await isStage(record, store))) return;
  throw new AppError(
    'E_USAGE',
    `run ${run_id} is a stage of pipe ${parent.run_id}, and only the whole pipe can be continued`,
    {
      hint: 'Resume the pipe instead.',
      next: [showRun(parent.run_id)],
    },
  );
}

async function mayAsk(services: RunnerServices, request: RunRequest): Promise<boolean> {
  if (request.kind === 'pipe') {
    const pipes = await import('../../core/workflow/pipe/pipe-call.ts');
    return pipes.mayAsk(services, request.args);
  }
  if (request.kind !== 'workflow')
    return toolMayAsk(await services.registry.find(request.tool), services.config);
  const [{ planWorkflow }, workflows] = await Promise.all([
    import('../../core/workflow/engine/plan-workflow.ts'),
    import('../../core/workflow/engine/plan-workflow.ts'),
  ]);
  return workflows.mayAsk(services, await planWorkflow(services, request));
}
