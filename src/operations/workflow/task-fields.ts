import * as z from 'zod';
import { EXECUTOR_NAMES } from '../../core/task/executors.ts';

const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What a task is, for the command line and the library. */
export const taskFields = {
  taskId: z
    .string()
    .regex(TASK_ID, 'must be letters, digits, ., _ and -, at most 64')
    .describe('The id of the conversation; the same id continues it.'),
  description: z
    .string()
    .min(1)
    .describe('What the agent should do, or the next message of the conversation.'),
  plan: z.string().optional().describe('A file with the plan.'),
  executor: z
    .enum(EXECUTOR_NAMES)
    .optional()
    .describe('The agent that does it; by default task.executor of the configuration.'),
};
