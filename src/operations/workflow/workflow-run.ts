import * as z from 'zod';
import { takeKnownFlags } from '../../compose/known-flags.ts';
import type { OperationContext, OperationDescription, OperationResult } from '../../compose/operation.ts';
import { asksForStdin } from '../../core/registry/parse-arguments.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { WorkflowPlan } from '../../core/workflow/engine/plan-workflow.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { runName } from '../../protocol/run.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { preparedAnswers } from '../run/prepared-answers.ts';
import type { ShownAs } from '../run/run-result.ts';
import { sameFlags } from '../run/same-flags.ts';
import { answers, ci, runSummary, startedRun, stream, timeoutOf } from '../shapes.ts';

const input = z.object({
  workflow: z.string().describe('The workflow: its name, or the path of its file.'),
  args: z
    .array(z.string())
    .default([])
    .describe("The workflow's inputs, as flags; --input-json takes them as JSON."),
  timeout: timeoutOf('the whole workflow'),
  stream,
  ci,
  detach: z
    .boolean()
    .default(false)
    .describe('Return the id at once; the workflow continues in the background.'),
  answer: z
    .array(z.string())
    .default([])
    .describe('ACTION=VALUE, an answer to a question that the workflow or one of its tools may ask.'),
  answers,
  idempotency_key: z
    .string()
    .optional()
    .describe(
      'Idempotency key: repeating the call with the same key shows the existing run instead of starting a second one.',
    ),
  dry_run: z.boolean().default(false).describe('Check everything, show what would run, and start nothing.'),
});

const planned = z.object({
  workflow: z.string(),
  file: z.string(),
  digest: z.string().describe('SHA-256 of the file: a resume requires the same content.'),
  inputs: z.record(z.string(), z.unknown()),
  steps: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      needs: z.array(z.string()),
      runs: z.array(z.string()).describe('The tools that it calls, or the file of its workflow.'),
    }),
  ),
  timeout_s: z.number(),
  max_concurrency: z.int(),
});

const output = z.union([runSummary, planned, startedRun]);

const description = {
  name: 'workflow.run',
  summary: 'Run the steps of a workflow, each as a run of its own, and stream the events.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output,
  positionals: ['workflow'],
  passthrough: 'args',
  example: 'acor workflow run nightly.yaml --date 2026-11-21',
  moreExamples: ['acor workflow run nightly.yaml --dry-run'],
  streams: 'Protocol events, one JSON object a line; the last line is runner_end.',
} satisfies OperationDescription;

export const workflowRun = acorOperation({
  ...description,
  callee: async (name, app) => (await import('./callee-of-workflow.ts')).calleeOfWorkflow(name, app),
  async run(given, ctx): Promise<OperationResult<z.output<typeof output>>> {
    const { values, rest } = takeKnownFlags(workflowRun, given.args, () => false);
    const options = { ...given, ...values };
    const start = () => startWorkflow(options, rest, ctx);
    // The flag was among the arguments of the workflow.
    if (!options.ci || given.ci) return start();
    const { reportInJob } = await import('../run/job-report.ts');
    return reportInJob(ctx, start);
  },
});

async function startWorkflow(
  options: z.output<typeof input>,
  rest: string[],
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<z.output<typeof output>>> {
  const services = await ctx.app.services();
  const stdin = asksForStdin(rest) ? await ctx.readStdin() : undefined;
  const { caller } = ctx.app;
  const answers = await preparedAnswers(options, ctx);
  const request: RunRequest = {
    kind: 'workflow',
    tool: runName('workflow', options.workflow),
    args: rest,
    cwd: ctx.cwd,
    env: ctx.env,
    ...(options.timeout !== undefined && { timeoutS: options.timeout }),
    ...(stdin !== undefined && { readStdin: () => stdin }),
    ...(options.idempotency_key !== undefined && { idempotencyKey: options.idempotency_key }),
    ...(answers.length > 0 && { answers }),
    ...(caller !== undefined && { caller }),
  };
  const { planWorkflow } = await import('../../core/workflow/engine/plan-workflow.ts');
  const plan = await planWorkflow(services, request);
  if (options.dry_run) return { kind: 'data', data: await shown(plan), next: [sameCall(options, rest)] };
  const flags: ShownAs = { ...options, exit_code: 'acor' };
  const { mayAsk } = await import('../../core/workflow/engine/plan-workflow.ts');
  // A workflow that may ask gets a supervisor process, so that it continues when its caller exits to answer (contract §3).
  if (options.detach || (await mayAsk(services, plan))) {
    const { runApart } = await import('../run/run-detached.ts');
    return runApart(request, flags, ctx);
  }
  const { runHere } = await import('../run/run-inline.ts');
  return runHere(services, request, flags, ctx);
}

/** The step that runs what was shown. Behind `--`, no input is taken for an option of the command. */
function sameCall({ args, ...options }: z.output<typeof input>, rest: string[]): NextStep {
  const words = args.includes('--') ? ['--', ...rest] : rest;
  return {
    operation: 'workflow.run',
    input: { ...sameFlags(options), args: words },
    why: 'Run the workflow as shown.',
  };
}

async function shown({ workflow, inputs, limits }: WorkflowPlan): Promise<z.output<typeof planned>> {
  const { allSteps, toolCallsOf, worksOf } = await import('../../core/workflow/check/checked-file.ts');
  const { name, file, digest, maxConcurrency } = workflow;
  return {
    workflow: name,
    file,
    digest,
    inputs,
    steps: allSteps(workflow).map((step) => ({
      name: step.name,
      kind: step.kind,
      needs: [...step.needs],
      runs: [
        ...toolCallsOf(step).map(({ tool }) => tool),
        ...worksOf(step).flatMap((work) => (work.kind === 'workflow' ? [work.file] : [])),
      ],
    })),
    timeout_s: limits.timeoutS,
    max_concurrency: maxConcurrency,
  };
}
