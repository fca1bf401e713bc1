import { recordedArgs } from './plan/run-plan.ts';
import { prepareRun } from './prepare-run.ts';
import type { RunRequest } from './run-request.ts';
import type { RunnerServices } from './services.ts';

/**
 * Whether a request gives a tool the same arguments as a recorded run, in whatever spelling: `--who=Ada`, a default that is written out, or
 * JSON. False where that cannot be found out: the request cannot be planned now, or has secrets, which no record contains.
 */
export async function isSameCall(
  services: RunnerServices,
  request: RunRequest,
  runId: string,
): Promise<boolean> {
  try {
    const { tool, cwd, args } = await services.store.read(runId);
    const { plan } = await prepareRun(services, request);
    if (plan.secrets !== null || plan.givenArgs === null) return false;
    return JSON.stringify([plan.name, plan.cwd, recordedArgs(plan)]) === JSON.stringify([tool, cwd, args]);
  } catch {
    return false;
  }
}
