import { basename } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { resumeRun } from '../../protocol/next-steps.ts';
import { scheduleOfCaller } from '../../protocol/run.ts';
import { PROTOCOL_VERSION } from '../../protocol/v1/wire.ts';
import { identify } from '../../util/process-table.ts';
import { newSha256 } from '../../util/sha256.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import type { KeyedCall, NewRun, RunStore } from '../ports/run-store.ts';
import type { KnownRun } from './known-run.ts';
import { type RunPlan, recordedArgs } from './plan/run-plan.ts';
import { prepareRun } from './prepare-run.ts';
import type { Run } from './run.ts';
import type { RunRequest } from './run-request.ts';
import type { RunnerServices } from './services.ts';
import type { RunHost } from './workspace.ts';

const MAX_KEY_CHARS = 200;
/** A process that starts many children looks for lost runs no more often. */
const BETWEEN_LOOKS_MS = 5000;
/** The keys of a workflow's steps begin with the id of its run. */
const OF_STEP = /^r-[0-9a-z]{16}\//;

/**
 * Plans a run and starts it, or returns the run that was started with the same idempotency key. Throws when the run cannot start; a run
 * that has started reports every ending as its outcome.
 */
export async function startRun(services: RunnerServices, request: RunRequest): Promise<Run | KnownRun> {
  await recoverOthers(services, request.parent === undefined ? 0 : BETWEEN_LOOKS_MS);
  if (request.again !== undefined) {
    const { reopenRun } = await import('./reopen-run.ts');
    return reopenRun(services, request, request.again);
  }
  const { store } = services;
  const keyed = keyedCall(request);
  // Return a known run before any check: files that the first call needed may not exist any more.
  const known = keyed && (await runOfKey(services, request, () => store.runOfKey(keyed)));
  if (known !== undefined) return knownRun(services, known);
  const { plan, createExecutor } = await prepareRun(services, request);
  if (request.parent !== undefined) await refuseOrphan(store, request.parent.run_id);
  const create = async (planned: RunPlan) => {
    const record = newRunRecord(planned, request, services);
    const made =
      keyed === undefined
        ? await store.create(record)
        : await runOfKey(services, request, () => store.createOnce(record, keyed));
    return { planned, made };
  };
  const { planned, made } = await (isCounted(services, request)
    ? withinDay(services, plan, create)
    : create(plan));
  if (typeof made === 'string') return knownRun(services, made);
  // A parent gives its answers to each child again.
  if (request.answers !== undefined && request.answers.length > 0 && request.parent === undefined) {
    const { keepGivenAnswers } = await import('./answers/given-answers.ts');
    keepGivenAnswers(planned, request.answers);
  }
  const executor = createExecutor(made);
  const begun = executor.begin?.();
  await begun?.catch(() => undefined);
  // Loaded late: what the executor has begun comes up meanwhile.
  return (await import('./run.ts')).Run.begin(services, planned, made, executor, begun);
}

/** Whether there is a budget of the day for this run. The parent of a child has reserved its part. */
function isCounted({ config }: RunnerServices, { parent }: RunRequest): boolean {
  return config.config.budget.max_day_cost_usd !== undefined && parent === undefined;
}

/** Creates the run; one that may cost reserves its part of the day's budget before. */
async function withinDay<T>(
  services: RunnerServices,
  plan: RunPlan,
  create: (plan: RunPlan) => Promise<T>,
): Promise<T> {
  const { hasCostToday, reserveDay } = await import('./reserve-day.ts');
  const needsDay = plan.cost.needsDay || (await hasCostToday(services, plan.name));
  return needsDay ? reserveDay(services, plan, create) : create(plan);
}

/** When this process looked for lost runs last. */
const lookedAtMs = new WeakMap<RunStore, number>();

/** Recovers lost runs before a new one starts, unless this process has looked for them just now. The code for it is loaded only when there are any. */
async function recoverOthers(host: RunHost, betweenMs: number): Promise<void> {
  const nowMs = performance.now();
  if (nowMs - (lookedAtMs.get(host.store) ?? Number.NEGATIVE_INFINITY) < betweenMs) return;
  lookedAtMs.set(host.store, nowMs);
  const leases = await host.store.leases.list();
  if (!leases.some(({ state }) => state === 'lost')) return;
  const { recoverLostRuns } = await import('./recover-lost-run.ts');
  await recoverLostRuns(host);
}

/** Refuses a child run that was requested just before its parent was lost. A resumed parent requests it again. */
async function refuseOrphan(store: RunStore, runId: string): Promise<void> {
  if ((await store.leases.inspect(runId)) === 'live') return;
  const { isLive } = await import('./read-run.ts');
  if (await isLive(store, runId)) return;
  throw new AcorError('E_RUNNER_LOST', `the parent run ${runId} has no supervisor any more`, {
    hint: 'Resume the parent run.',
    next: [resumeRun(runId)],
  });
}

async function knownRun(host: RunHost, runId: string): Promise<KnownRun> {
  return new (await import('./known-run.ts')).KnownRun(host, runId);
}

/** What the store says of a key. One that the same call in another spelling has used is the key of that run. */
async function runOfKey<T>(
  services: RunnerServices,
  request: RunRequest,
  ask: () => Promise<T>,
): Promise<T | string> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AcorError) || typeof error.details?.run_id !== 'string') throw error;
    const { isSameCall } = await import('./is-same-call.ts');
    if (await isSameCall(services, request, error.details.run_id)) return error.details.run_id;
    throw error;
  }
}

/** The key of a request, and its call. Throws E_USAGE for a key that its caller may not use. */
export function keyedCall(
  request: Pick<RunRequest, 'idempotencyKey' | 'tool' | 'args' | 'cwd' | 'caller' | 'parent'>,
): KeyedCall | undefined {
  const { idempotencyKey: key, tool, args, cwd } = request;
  if (key === undefined) return undefined;
  if (key.trim() === '' || key.length > MAX_KEY_CHARS) {
    throw new AcorError('E_USAGE', `an idempotency key must have 1 to ${MAX_KEY_CHARS} characters`, {
      hint: 'Pass a key that identifies this piece of work, such as migrate-2026-11-21.',
    });
  }
  refuseReserved(key, request);
  return {
    key,
    call: newSha256()
      .update(JSON.stringify([tool, args, cwd]))
      .digest('hex'),
  };
}

/** With a key of a schedule or of a step of a workflow another caller could start that run before its time, or keep it from being started. */
function refuseReserved(key: string, { caller, parent }: Pick<RunRequest, 'caller' | 'parent'>): void {
  const isOfSchedule = scheduleOfCaller(key) !== undefined;
  const isRefused = isOfSchedule
    ? scheduleOfCaller(caller ?? null) === undefined
    : OF_STEP.test(key) && parent === undefined;
  if (!isRefused) return;
  throw new AcorError('E_USAGE', `the idempotency key ${key} is one of ACOR's own`, {
    hint: `Pass a key that does not begin with ${isOfSchedule ? 'schedule:' : 'the id of a run'}.`,
  });
}

/** The first record of a planned run. */
function newRunRecord(plan: RunPlan, { timeoutS }: RunRequest, { config }: RunnerServices): NewRun {
  const { secrets } = plan;
  const record: NewRun = {
    run_id: plan.runId,
    kind: plan.kind,
    tool: plan.name,
    ...(plan.title !== undefined && { title: plan.title }),
    tool_version: plan.version,
    tool_digest: plan.digest,
    ...(plan.planDigest !== undefined && { plan_digest: plan.planDigest }),
    args: recordedArgs(plan),
    given_args: plan.givenArgs,
    cwd: plan.cwd,
    project_root: config.root,
    state: 'queued',
    attempt: 1,
    created_at: new Date().toISOString(),
    started_at: null,
    ended_at: null,
    timeout_s: plan.limits.timeoutS,
    ...(timeoutS !== undefined && { given_timeout_s: timeoutS }),
    code: null,
    message: null,
    rc: null,
    signal: null,
    events: null,
    duration_s: null,
    usage: null,
    cost_usd: null,
    cost: null,
    cost_limit_usd: plan.cost.dayUsd,
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
    writes: plan.writes,
    caller: plan.caller,
    parent: plan.parent,
    reads: plan.reads ?? null,
  };
  // The store writes this record before the writer starts to redact, so it is redacted here.
  return secrets?.redaction.data(record) ?? record;
}
