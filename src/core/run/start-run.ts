import { createHash } from 'node:crypto';
import { AcorError } from '../../protocol/acor-error.ts';
import type { KeyedCall, RunStore } from '../ports/run-store.ts';
import { executorFor } from './attempt/tool-executor.ts';
import type { KnownRun } from './known-run.ts';
import { newRunRecord } from './new-run.ts';
import { planRun } from './plan/plan.ts';
import { checkPlanToken } from './plan/plan-token.ts';
import type { PreparedRun } from './plan/prepared-run.ts';
import { Run } from './run.ts';
import type { RunRequest } from './run-request.ts';
import { isOrchestration, type RunnerServices } from './services.ts';

const MAX_KEY_CHARS = 200;

/**
 * Plans a run and starts it, or finds the one that was started with the same idempotency key. Throws when it cannot begin; from
 * then on, every ending is data.
 */
export async function startRun(services: RunnerServices, request: RunRequest): Promise<Run | KnownRun> {
  await recoverOthers(services.store);
  if (request.again !== undefined) {
    const { reopenRun } = await import('./reopen-run.ts');
    return reopenRun(services, request, request.again);
  }
  const { store } = services;
  const keyed = keyedCall(request);
  // What the first call needed may be gone by now: a known run is returned before anything is checked.
  const known = keyed && (await store.runOfKey(keyed));
  if (known !== undefined) return knownRun(store, known);
  const { plan, createExecutor } = await planned(services, request);
  if (request.parent !== undefined) await refuseOrphan(store, request.parent.run_id);
  const record = newRunRecord(plan);
  const made = await (keyed === undefined ? store.create(record) : store.createOnce(record, keyed));
  if (typeof made === 'string') return knownRun(store, made);
  return Run.begin(services, plan, made, createExecutor(made));
}

/** A process that starts or supervises runs ends those that have lost their supervisor; mostly there are none. */
async function recoverOthers(store: RunStore): Promise<void> {
  const leases = await store.leases.list();
  if (!leases.some(({ state }) => state === 'lost')) return;
  const { recoverLostRuns } = await import('./recover-lost-run.ts');
  await recoverLostRuns(store);
}

/** Plans what was asked for: the run of a tool, a workflow or a pipe. */
export async function planned(services: RunnerServices, request: RunRequest): Promise<PreparedRun> {
  if (services.planWorkflow !== undefined && isOrchestration(request.tool))
    return services.planWorkflow(services, request);
  const plan = await planRun(services, request);
  // The next attempt was looked at when the first one was.
  if (request.again === undefined)
    checkPlanToken(plan, request.planToken, services.config.config.security.require_plan);
  return { plan, createExecutor: await executorFor(services, plan) };
}

/** A child that was asked for just before its workflow was lost: whoever goes on with that asks again. */
async function refuseOrphan(store: RunStore, runId: string): Promise<void> {
  const { isLive } = await import('./liveness.ts');
  if (await isLive(store, runId)) return;
  throw new AcorError('E_RUNNER_LOST', `run ${runId}, of which this one is a part, is not going on`, {
    hint: `Go on with it: acor resume ${runId}`,
    next: [`acor resume ${runId}`],
  });
}

async function knownRun(store: RunStore, runId: string): Promise<KnownRun> {
  return new (await import('./known-run.ts')).KnownRun(store, runId);
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
