import { beginAgain } from './again.ts';
import { newRunRecord } from './new-run.ts';
import { planRun } from './plan.ts';
import { Run } from './run.ts';
import type { RunnerServices, RunRequest } from './services.ts';

/** Plans a run and starts it. Throws when it cannot begin; from then on, every ending is data. */
export async function startRun(services: RunnerServices, request: RunRequest): Promise<Run> {
  if (request.again !== undefined) return beginAgain(services, request, request.again);
  return Run.begin(services, await planRun(services, request), (plan) =>
    services.store.create(newRunRecord(plan)),
  );
}
