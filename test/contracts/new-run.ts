import type { NewRun } from '../../src/core/ports/run-store.ts';
import { newRunId } from '../../src/util/ids.ts';
import { identify } from '../../src/util/process-table.ts';

/** A run of a tool that need not exist. */
export function newRun(nowMs = Date.now()): NewRun {
  return {
    run_id: newRunId(nowMs),
    kind: 'tool',
    tool: 'a_tool',
    tool_version: null,
    tool_digest: null,
    usage: null,
    cost_usd: null,
    cost: null,
    cost_limit_usd: null,
    staged: [],
    args: [],
    given_args: [],
    cwd: '/',
    state: 'queued',
    attempt: 1,
    created_at: new Date().toISOString(),
    started_at: null,
    ended_at: null,
    timeout_s: 1800,
    code: null,
    message: null,
    rc: null,
    signal: null,
    events: null,
    duration_s: null,
    trace_id: 'a'.repeat(32),
    span_id: 'b'.repeat(16),
    idempotency_key: null,
    replays: null,
    idempotent: false,
    supervisor: identify(process.pid),
    isolation: { backend: 'none', tier: 3, enforced: [], not_enforced: [] },
    acor_version: '0.1.0',
    protocol_version: 1,
    caller: null,
    writes: null,
    parent: null,
    reads: null,
  };
}
