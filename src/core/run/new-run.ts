import { PROTOCOL_VERSION } from '../../protocol/v1/wire.ts';
import { identify } from '../../util/process-table.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import type { NewRun } from '../ports/run-store.ts';
import type { RunPlan } from './plan/run-plan.ts';

/** The record with which a planned run begins. */
export function newRunRecord(plan: RunPlan): NewRun {
  const { secrets } = plan;
  const record: NewRun = {
    run_id: plan.runId,
    tool: plan.name,
    tool_version: plan.version,
    args: plan.shownArgs,
    given_args: plan.givenArgs,
    cwd: plan.cwd,
    state: 'queued',
    attempt: 1,
    created_at: new Date().toISOString(),
    started_at: null,
    ended_at: null,
    timeout_s: plan.limits.timeoutS,
    code: null,
    message: null,
    rc: null,
    signal: null,
    events: null,
    duration_s: null,
    trace_id: plan.traceId,
    span_id: plan.spanId,
    idempotent: plan.idempotent,
    idempotency_key: plan.idempotencyKey,
    replays: plan.replays,
    supervisor: identify(process.pid),
    isolation: plan.isolation,
    acor_version: ACOR_VERSION,
    protocol_version: PROTOCOL_VERSION,
    caller: plan.caller,
    parent: plan.parent,
    reads: plan.reads ?? null,
  };
  // It is written before anything else is done about secrets, and stays as it is for as long as the run is queued.
  return secrets?.redaction.data(record) ?? record;
}
