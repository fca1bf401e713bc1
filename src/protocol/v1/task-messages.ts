import * as z from 'zod';
import { message } from './envelope.ts';
import type { TaskMessageType } from './wire.ts';

const taskId = z.string().min(1);
const wrapped = {
  task_id: taskId,
  child_run_id: z.string().min(1).optional(),
  child_event: z.record(z.string(), z.unknown()),
};

/**
 * The types that only a tool with `role: orchestrator` may write: the life cycle of its tasks, and their wrapped events
 * (§1).
 */
export const TASK_MESSAGES = {
  task_submitted: message('task_submitted', {
    task_id: taskId,
    payload: z.record(z.string(), z.unknown()).optional(),
  }),
  task_started: message('task_started', { task_id: taskId, child_run_id: z.string().min(1).optional() }),
  task_done: message('task_done', {
    task_id: taskId,
    status: z.string().min(1),
    child_run_id: z.string().min(1).optional(),
  }),
  task_progress: message('task_progress', wrapped),
  task_action_required: message('task_action_required', wrapped),
  task_error: message('task_error', wrapped),
} as const satisfies Record<TaskMessageType, z.ZodType>;
