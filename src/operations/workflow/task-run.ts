import * as z from 'zod';
import type { RunRequest } from '../../core/run/run-request.ts';
import { taskCall } from '../../core/task/task-call.ts';
import { readTask, refuseWhileLive } from '../../core/task/task-record.ts';
import { acorOperation } from '../define.ts';
import { preparedAnswers } from '../run/prepared-answers.ts';
import { shownPlan, showPlan } from '../run/show-plan.ts';
import { ci, runSummary, startedRun, stream, timeoutOf } from '../shapes.ts';
import { taskFields } from './task-fields.ts';

/** Assigns a task to an agent. It is an ordinary run: supervised, sandboxed, stored, and it waits at its questions (contract §8). */
export const taskRun = acorOperation({
  name: 'task.run',
  summary: 'Assign a task to an agent, and continue it later under the same id.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    task_id: taskFields.taskId,
    description: taskFields.description,
    plan: taskFields.plan,
    executor: taskFields.executor,
    timeout: timeoutOf('the whole run'),
    stream,
    ci,
    detach: z
      .boolean()
      .default(false)
      .describe('Return the id at once; the run continues under a supervisor process.'),
    answer: z
      .array(z.string())
      .default([])
      .describe('ACTION=VALUE, an answer to a question that it may ask (actions: question, blocked).'),
    dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
  }),
  output: z.lazy(() => z.union([runSummary, shownPlan, startedRun])),
  positionals: ['task_id', 'description', 'plan'],
  example: 'acor task fix-login "Make the login form remember the user" plan.md',
  streams: 'Protocol events, one JSON object a line; the last line is runner_end.',
  async run({ task_id, description, plan, executor, ...flags }, ctx) {
    const services = await ctx.app.services();
    await refuseWhileLive(services.store, readTask(services.workspaces.root, task_id));
    const { caller } = ctx.app;
    const answers = await preparedAnswers(flags, ctx);
    const request: RunRequest = {
      ...taskCall(
        { taskId: task_id, description, plan, executor },
        { config: services.config, cwd: ctx.cwd },
      ),
      cwd: ctx.cwd,
      env: ctx.env,
      ...(flags.timeout !== undefined && { timeoutS: flags.timeout }),
      ...(caller !== undefined && { caller }),
      ...(answers.length > 0 && { answers }),
    };
    if (flags.dry_run) return showPlan(services, request, flags);
    const { runApart } = await import('../run/run-detached.ts');
    return runApart(request, { stream: flags.stream, detach: flags.detach, exit_code: 'acor' }, ctx);
  },
});
