import { newRunId, newSpanId, newTraceId } from '../../../util/ids.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import type { RunRequest } from '../run-request.ts';
import type { PlanServices } from './check-tool.ts';
import type { RunPlan } from './run-plan.ts';

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** The part of a plan that depends only on the request, for every kind of run. */
export type RequestedRun = Pick<
  RunPlan,
  | 'runId'
  | 'workspace'
  | 'kind'
  | 'again'
  | 'traceId'
  | 'spanId'
  | 'parentSpanId'
  | 'onQuestion'
  | 'cwd'
  | 'idempotencyKey'
  | 'caller'
  | 'writes'
  | 'parent'
  | 'group'
>;

/** Reads this part from a request. Without a TRACEPARENT of the caller, the run starts a new trace. */
export function fromRequest(
  { workspaces }: Pick<PlanServices, 'workspaces'>,
  request: RunRequest,
): RequestedRun {
  const [, traceId = newTraceId(), parentSpanId = null] =
    TRACEPARENT.exec(request.env.TRACEPARENT ?? '') ?? [];
  const runId = request.again?.runId ?? newRunId();
  return {
    runId,
    workspace: workspaces.of(runId),
    again: request.again?.mode ?? null,
    kind: request.kind,
    traceId,
    spanId: newSpanId(),
    parentSpanId,
    onQuestion: request.onQuestion,
    cwd: request.cwd,
    idempotencyKey: request.idempotencyKey ?? null,
    caller: request.caller ?? null,
    writes: request.writes ?? null,
    parent: request.parent ?? null,
    group: request.group ?? null,
  };
}

/** The answers known before a run starts: those of the caller, then those of the configuration's rules for this tool or workflow. */
export function preparedAnswers(
  { config }: Pick<LoadedConfig, 'config'>,
  request: RunRequest,
  name: string,
): PreparedAnswer[] {
  const ruled = config.answers
    .filter(({ tool }) => tool === undefined || tool === name)
    .map(({ action, answer, reason }) => ({
      action,
      answer,
      by: 'configuration',
      source: 'policy' as const,
      ...(reason !== undefined && { reason }),
    }));
  return [...(request.answers ?? []), ...ruled];
}
