import * as z from 'zod';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { preparedAnswers } from '../run/prepared-answers.ts';
import { sameFlags } from '../run/same-flags.ts';
import { answers, ci, runSummary, startedRun, stream, timeoutOf } from '../shapes.ts';

const input = z.object({
  stages: z
    .array(z.string())
    .default([])
    .describe(
      'The tools, each with its arguments as one word; each tool reads the records of the one before.',
    ),
  timeout: timeoutOf('the whole pipe; by default that of its slowest tool'),
  stream,
  ci,
  detach: z
    .boolean()
    .default(false)
    .describe('Return the id at once; the pipe continues under a supervisor process.'),
  answer: z
    .array(z.string())
    .default([])
    .describe('ACTION=VALUE, an answer to a question that a tool of the pipe may ask.'),
  answers,
  idempotency_key: z
    .string()
    .optional()
    .describe(
      'Idempotency key: repeating the call with the same key shows the existing pipe instead of starting a second one.',
    ),
  dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
});

type Input = z.output<typeof input>;

const shownPipe = z.object({
  pipe: z.string(),
  timeout_s: z.number(),
  stages: z.array(
    z.object({
      task_id: z.string(),
      tool: z.string(),
      args: z.array(z.string()),
      records: z.enum(['lines', 'messages', 'records']).describe('What it passes to the next stage.'),
    }),
  ),
});

const output = z.union([runSummary, shownPipe, startedRun]);

export const pipe = acorOperation({
  name: 'workflow.pipe',
  summary: 'Run tools concurrently, each reading the records of the one before it from standard input.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output,
  positionals: ['stages'],
  example: 'acor pipe "orders --since 2026-01-01" "only_open" "to_csv --output open.csv"',
  streams: 'Protocol events of the pipe, one JSON object a line; the last line is runner_end.',
  async run(given, ctx): Promise<OperationResult<z.output<typeof output>>> {
    const [services, { callsOf, pipeCall }, { mayAsk }] = await Promise.all([
      ctx.app.services(),
      import('../../core/workflow/pipe/pipe-call.ts'),
      import('../../core/workflow/pipe/pipe-call.ts'),
    ]);
    const request = { ...pipeCall(callsOf(given.stages)), ...(await restOfRequest(given, ctx)) };
    if (given.dry_run) return showPipe(services, request, given);
    const flags = { stream: given.stream, detach: given.detach, exit_code: 'acor' } as const;
    // A pipe with a tool that may ask gets a supervisor process, so that it continues when its caller exits to answer (contract §3).
    if (given.detach || (await mayAsk(services, request.args))) {
      const { runApart } = await import('../run/run-detached.ts');
      return runApart(request, flags, ctx);
    }
    const { runHere } = await import('../run/run-inline.ts');
    return runHere(services, request, flags, ctx);
  },
});

async function restOfRequest(
  given: Input,
  ctx: OperationContext<AcorApp>,
): Promise<Omit<RunRequest, 'kind' | 'tool' | 'args'>> {
  const answers = await preparedAnswers(given, ctx);
  const { caller } = ctx.app;
  return {
    cwd: ctx.cwd,
    env: ctx.env,
    ...(given.timeout !== undefined && { timeoutS: given.timeout }),
    ...(given.idempotency_key !== undefined && { idempotencyKey: given.idempotency_key }),
    ...(caller !== undefined && { caller }),
    ...(answers.length > 0 && { answers }),
  };
}

async function showPipe(
  services: RunnerServices,
  request: RunRequest,
  given: Input,
): Promise<OperationResult<z.output<typeof shownPipe>>> {
  const { planPipe } = await import('../../core/workflow/pipe/plan-pipe.ts');
  const { name, limits, stages } = await planPipe(services, request);
  const shown = stages.map(({ taskId, tool, args, form }) => ({
    task_id: taskId,
    tool,
    args,
    records: form,
  }));
  return {
    kind: 'data',
    data: { pipe: name, timeout_s: limits.timeoutS, stages: shown },
    next: [{ operation: 'workflow.pipe', input: sameFlags(given), why: 'Run the pipe as shown.' }],
  };
}
