import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { resumeRun } from '../../protocol/next-steps.ts';
import { PROTOCOL_VERSION } from '../../protocol/v1/wire.ts';
import { identify } from '../../util/process-table.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import type { KeyedCall, NewRun, RunStore } from '../ports/run-store.ts';
import type { KnownRun } from './known-run.ts';
import { type RunPlan, recordedArgs } from './plan/run-plan.ts';
import { prepareRun } from './prepare-run.ts';
import { Run } from './run.ts';
import type { RunRequest } from './run-request.ts';
import type { RunnerServices } from './services.ts';
import type { RunHost } from './workspace.ts';

const MAX_KEY_CHARS = 200;

/**
 * Plans a run and starts it, or returns the one that was started with the same idempotency key. Throws when it cannot begin; from then
 * on, every ending is data.
 */
export async function startRun(services: RunnerServices, request: RunRequest): Promise<Run | KnownRun> {
  await recoverOthers(services);
  if (request.again !== undefined) {
    const { reopenRun } = await import('./reopen-run.ts');
    return reopenRun(services, request, request.again);
  }
  const { store } = services;
  const keyed = keyedCall(request);
  // What the first call needed may be gone by now, so a known run is returned before anything is checked.
  const known = keyed && (await store.runOfKey(keyed));
  if (known !== undefined) return knownRun(services, known);
  const { plan, createExecutor } = await prepareRun(services, request);
  if (request.parent !== undefined) await refuseOrphan(store, request.parent.run_id);
  const record = newRunRecord(plan);
  const made = await (keyed === undefined ? store.create(record) : store.createOnce(record, keyed));
  if (typeof made === 'string') return knownRun(services, made);
  return Run.begin(services, plan, made, createExecutor(made));
}

/** A process that starts or supervises runs ends those that have lost their supervisor; mostly there are none. */
async function recoverOthers(host: RunHost): Promise<void> {
  const leases = await host.store.leases.list();
  if (!leases.some(({ state }) => state === 'lost')) return;
  const { recoverLostRuns } = await import('./recover-lost-run.ts');
  await recoverLostRuns(host);
}

/** Refuses a child that was requested just before its workflow was lost: resumed, the workflow requests it again. */
async function refuseOrphan(store: RunStore, runId: string): Promise<void> {
  const { isLive } = await import('./liveness.ts');
  if (await isLive(store, runId)) return;
  throw new AcorError('E_RUNNER_LOST', `run ${runId}, of which this one is a part, is not going on`, {
    hint: 'Resume that run.',
    next: [resumeRun(runId)],
  });
}

async function knownRun(host: RunHost, runId: string): Promise<KnownRun> {
  return new (await import('./known-run.ts')).KnownRun(host, runId);
}

function keyedCall({ idempotencyKey: key, tool, args, cwd }: RunRequest): KeyedCall | undefined {
  if (key === undefined) return undefined;
  if (key.trim() === '' || key.length > MAX_KEY_CHARS) {
    throw new AcorError('E_USAGE', `an idempotency key has 1 to ${MAX_KEY_CHARS} characters`, {
      hint: 'Give one that names this very piece of work, such as migrate-2026-11-21.',
    });
  }
  return {
    key,
    call: createHash('sha256')
      .update(JSON.stringify([tool, args, cwd]))
      .digest('hex'),
  };
}

/** The record with which a planned run begins. */
function newRunRecord(plan: RunPlan): NewRun {
  const { secrets } = plan;
  const record: NewRun = {
    run_id: plan.runId,
    kind: plan.kind,
    tool: plan.name,
    tool_version: plan.version,
    tool_digest: plan.digest,
    args: recordedArgs(plan),
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
    usage: null,
    cost_usd: null,
    staged: plan.staged.map(({ input, staged }) => `${input}/${basename(staged)}`),
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
  // The first record is written before the writer redacts, and stays as it is while the run is queued.
  return secrets?.redaction.data(record) ?? record;
}
