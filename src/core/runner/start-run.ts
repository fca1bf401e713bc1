import { createHash } from 'node:crypto';
import { AcorError } from '../../protocol/acor-error.ts';
import type { KeyedCall } from '../storage/idempotency-keys.ts';
import type { RunStore } from '../storage/run-store.ts';
import type { KnownRun } from './known-run.ts';
import { newRunRecord } from './new-run.ts';
import { planRun } from './plan.ts';
import { checkPlanToken } from './plan-token.ts';
import { Run } from './run.ts';
import type { RunnerServices, RunRequest } from './services.ts';
import { workOf } from './tool-work.ts';

const MAX_KEY_CHARS = 200;

/**
 * Plans a run and starts it, or finds the one that was started with the same idempotency key. Throws when it cannot begin; from
 * then on, every ending is data.
 */
export async function startRun(services: RunnerServices, request: RunRequest): Promise<Run | KnownRun> {
  if (request.again !== undefined) {
    const { beginAgain } = await import('./again.ts');
    return beginAgain(services, request, request.again);
  }
  const { store, config } = services;
  const keyed = keyedCall(request);
  // What the first call needed may be gone by now: a known run is returned before anything is checked.
  const known = keyed && store.runOfKey(keyed);
  if (known !== undefined) return knownRun(store, known);
  const plan = await planRun(services, request);
  checkPlanToken(plan, request.planToken, config.config.security.require_plan);
  const workWith = await workOf(services, plan);
  const record = newRunRecord(plan);
  const made = keyed === undefined ? store.create(record) : await store.createOnce(record, keyed);
  if (typeof made === 'string') return knownRun(store, made);
  return Run.begin(services, plan, made, workWith(made));
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
