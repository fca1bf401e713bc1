import { newRunId, newSpanId, newTraceId } from '../../../util/ids.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import type { RunRequest } from '../run-request.ts';
import type { PlanServices } from './check-tool.ts';
import type { RunPlan } from './run-plan.ts';

/** A later version may add fields behind the flags (W3C Trace Context, 3.2). */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;
const TRACESTATE_MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;
const MAX_TRACESTATE_MEMBERS = 32;
const MAX_TRACESTATE_CHARS = 512;

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
  | 'isSampled'
  | 'traceState'
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
  const runId = request.again?.runId ?? newRunId();
  return {
    runId,
    workspace: workspaces.of(runId),
    again: request.again?.mode ?? null,
    kind: request.kind,
    ...traceContextOf(request.env),
    spanId: newSpanId(),
    onQuestion: request.onQuestion,
    cwd: request.cwd,
    idempotencyKey: request.idempotencyKey ?? null,
    caller: request.caller ?? null,
    writes: request.writes ?? null,
    parent: request.parent ?? null,
    group: request.group ?? null,
  };
}

/** The trace that a caller is in, by the rules of W3C Trace Context; a new one when its context is absent or invalid. */
export function traceContextOf({
  TRACEPARENT: traceparent = '',
  TRACESTATE: tracestate = '',
}: RunRequest['env']): Pick<RunPlan, 'traceId' | 'parentSpanId' | 'isSampled' | 'traceState'> {
  const found = traceparent === '' ? null : TRACEPARENT.exec(traceparent);
  const [, version, traceId, parentSpanId, flags, more] = found ?? [];
  if (traceId === undefined || (version === '00' && more !== undefined))
    return { traceId: newTraceId(), parentSpanId: null, isSampled: true, traceState: null };
  const isSampled = (Number.parseInt(flags!, 16) & SAMPLED) === SAMPLED;
  return { traceId, parentSpanId: parentSpanId!, isSampled, traceState: validTraceState(tracestate) };
}

/** As it came, but for members that are too much for the limits; null when it is empty or invalid. */
function validTraceState(text: string): string | null {
  const members = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  const keys = new Set(members.map((each) => each.split('=', 1)[0]));
  if (members.length > MAX_TRACESTATE_MEMBERS || keys.size < members.length) return null;
  if (!members.every((each) => TRACESTATE_MEMBER.test(each))) return null;
  // Long members go first, then the last ones.
  const isTooLong = () => members.join(',').length > MAX_TRACESTATE_CHARS;
  while (isTooLong()) {
    const long = members.findLastIndex((each) => each.length > 128);
    members.splice(long, 1);
  }
  return members.length === 0 ? null : members.join(',');
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
