import { kindOfName } from '../../../protocol/run-kind.ts';
import type { LaunchRequest } from '../../ports/run-launcher.ts';
import { startChild } from '../engine/child-task.ts';
import { emit } from '../engine/engine.ts';
import type { Pipe } from './pipe.ts';

/**
 * Starts the run of a stage, which reads the records of the run before it, and returns the run id. The idempotency key
 * makes a repeated start return the same run.
 */
export async function beginStage(pipe: Pipe, index: number, before: string | undefined): Promise<string> {
  const { plan, history } = pipe;
  const { taskId, tool, args } = plan.stages[index]!;
  const { tries, isOpen, childRunId } = history.of(taskId);
  const wasSubmitted = isOpen && childRunId === null;
  const request = requestOf(pipe, index, before, wasSubmitted ? tries : tries + 1);
  if (!wasSubmitted) {
    const payload = { command: [tool, ...args].join(' '), key: request.idempotencyKey };
    await emit(pipe, { type: 'task_submitted', task_id: taskId, payload });
  }
  const runId = await startChild(pipe, request);
  await emit(pipe, { type: 'task_started', task_id: taskId, child_run_id: runId });
  return runId;
}

function requestOf(
  { plan, writer }: Pipe,
  index: number,
  before: string | undefined,
  number: number,
): LaunchRequest {
  const { stages, callerEnv, traceId, spanId, answers, caller, cwd } = plan;
  const { taskId, tool, args } = stages[index]!;
  const { run_id } = writer.record;
  return {
    kind: kindOfName(tool),
    tool,
    args,
    cwd,
    env: { ...callerEnv, TRACEPARENT: `00-${traceId}-${spanId}-01` },
    parent: { run_id, task_id: taskId },
    idempotencyKey: `${run_id}/${taskId}/${number}`,
    answers,
    // Records that a stage has already passed on cannot be recalled.
    retries: 0,
    ...(before !== undefined && { reads: { run_id: before, form: stages[index - 1]!.form } }),
    ...(index < stages.length - 1 && { isRead: true }),
    ...(caller !== null && { caller }),
  };
}
