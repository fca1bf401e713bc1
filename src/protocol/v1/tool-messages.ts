import * as z from 'zod';
import { message } from './envelope.ts';
import { ACTION_ID, AUDIENCES, LOG_LEVELS, type TaskMessageType, type ToolMessageType } from './wire.ts';

const freeObject = z.record(z.string(), z.unknown());

export const start = message('start', { step: z.string(), args: freeObject.optional() });

export const progress = message('progress', {
  step: z.string().optional(),
  pct: z.number().min(0).max(100).optional(),
  msg: z.string().optional(),
});

export const heartbeat = message('heartbeat', { step: z.string().optional() });

/** One option of a question. */
const actionOption = z.looseObject({
  id: z.string().min(1),
  label: z.string().optional(),
  description: z.string().optional(),
});

/** A question (contract §4). The runner fills in a missing `action_id`. */
const actionRequired = message('action_required', {
  action: z.string().min(1),
  action_id: z.string().regex(ACTION_ID).optional(),
  context: freeObject.optional(),
  msg: z.string().optional(),
  options: z.array(actionOption).optional(),
  schema: freeObject.optional(),
  default: z.unknown().optional(),
  timeout_s: z.number().positive().optional(),
  audience: z.enum(AUDIENCES).optional(),
  blocking: z.boolean().optional(),
});

/** A file or folder that a tool reports. The runner verifies `sha256`. */
const declaredArtifact = z.looseObject({
  path: z.string().min(1),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  media_type: z.string().optional(),
});

export const result = message('result', {
  status: z.string().min(1),
  artifacts: z.array(declaredArtifact).optional(),
  metrics: freeObject.optional(),
  data: z.unknown().optional(),
});

export const error = message('error', {
  code: z.string().regex(/^E_[A-Z0-9_]+$/, 'must look like E_SOMETHING'),
  msg: z.string(),
  hint: z.string().optional(),
  retryable: z.boolean().optional(),
});

export const cancelled = message('cancelled', { reason: z.string() });

/** A remark. With `record`, it passes a record to the next tool in a pipe. */
export const log = message('log', {
  level: z.enum(LOG_LEVELS),
  msg: z.string(),
  record: freeObject.optional(),
});

/** The types that any tool may write on stdout (contract §1). */
export const TOOL_MESSAGES = {
  start,
  progress,
  heartbeat,
  action_required: actionRequired,
  result,
  error,
  cancelled,
  log,
} as const satisfies Record<ToolMessageType, z.ZodType>;

export type Start = z.output<typeof start>;
export type Progress = z.output<typeof progress>;
export type ActionRequired = z.output<typeof actionRequired>;
export type Result = z.output<typeof result>;
export type ToolError = z.output<typeof error>;
export type Cancelled = z.output<typeof cancelled>;
export type Log = z.output<typeof log>;
export type DeclaredArtifact = z.output<typeof declaredArtifact>;

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
