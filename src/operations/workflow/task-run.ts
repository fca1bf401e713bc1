import { resolve } from 'node:path';
import * as z from 'zod';
import type { RunRequest } from '../../core/run/run-request.ts';
import { EXECUTOR_NAMES, toolNameOf } from '../../core/task/executors.ts';
import { readTask, refuseWhileLive } from '../../core/task/task-record.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { acorOperation } from '../define.ts';
import { callerOf } from '../run/caller.ts';
import { preparedAnswers } from '../run/prepared-answers.ts';
import { shownPlan, showPlan } from '../run/show-plan.ts';
import { runSummary, stream } from '../shapes.ts';

const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Hands a task to an agent, as an ordinary run: supervised, confined, stored, and stopped at its questions (contract §8). */
export const taskRun = acorOperation({
  name: 'task.run',
  summary: 'Hand a task to an agent, and go on with it under the same id.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    task_id: z
      .string()
      .regex(TASK_ID, 'must be letters, digits, ., _ and -, at most 64')
      .describe('Names the conversation: the same id goes on with it.'),
    description: z.string().min(1).describe('What is to be done, or what is to be said next.'),
    plan: z.string().optional().describe('A file with the plan.'),
    executor: z
      .enum(EXECUTOR_NAMES)
      .optional()
      .describe('Who carries it out; left out, the one of the configuration (task.executor).'),
    timeout: z.number().positive().optional().describe('Seconds until the deadline of the whole run.'),
    stream,
    detach: z
      .boolean()
      .default(false)
      .describe('Give back the id at once; the run goes on under a supervisor of its own.'),
    answer: z
      .array(z.string())
      .default([])
      .describe('ACTION=VALUE, an answer to a question that it may ask (actions: question, blocked).'),
    dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
  }),
  output: z.lazy(() =>
    z.union([runSummary, shownPlan, z.object({ run_id: z.string(), state: z.string(), dir: z.string() })]),
  ),
  positionals: ['task_id', 'description', 'plan'],
  example: 'acor task fix-login "Make the login form remember the user" plan.md',
  streams: 'Protocol events, one JSON object a line; the last line is runner_end.',
  async run({ task_id, description, plan, ...flags }, ctx) {
    const services = await ctx.app.services();
    await refuseWhileLive(services.store, readTask(services.workspaces.root, task_id));
    const caller = callerOf(ctx.env);
    const answers = await preparedAnswers(flags.answer, undefined, ctx.cwd);
    const request: RunRequest = {
      tool: toolNameOf(flags.executor ?? configuredExecutor(services.config.config.task)),
      args: [
        `--task-id=${task_id}`,
        `--description=${description}`,
        ...(plan === undefined ? [] : [`--plan=${resolve(ctx.cwd, plan)}`]),
      ],
      cwd: ctx.cwd,
      env: ctx.env,
      ...(flags.timeout !== undefined && { timeoutS: flags.timeout }),
      ...(caller !== undefined && { caller }),
      ...(answers.length > 0 && { answers }),
    };
    if (flags.dry_run) return showPlan(services, request);
    const { runApart } = await import('../run/run-detached.ts');
    return runApart(request, { stream: flags.stream, detach: flags.detach, exit_code: 'acor' }, ctx);
  },
});

function configuredExecutor({ executor }: { executor?: string | object | undefined }): string {
  if (typeof executor === 'string') return executor;
  if (executor !== undefined) return 'command';
  throw new AcorError('E_CONFIG_INVALID', 'nobody is configured to carry out tasks', {
    hint: `Write task: { executor: codex } in .acor/config.yaml, or say it in the call: --executor ${EXECUTOR_NAMES.join('|')}`,
    next: ['acor config show'],
  });
}
