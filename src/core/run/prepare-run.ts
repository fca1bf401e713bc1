import { isOrchestration } from '../../protocol/run.ts';
import { errorCode } from '../../util/error-code.ts';
import { storageError } from '../store-files/storage-error.ts';
import { executorFor } from './attempt/tool-executor.ts';
import { planRun } from './plan/plan.ts';
import type { PreparedRun } from './run-executor.ts';
import type { RunRequest } from './run-request.ts';
import type { RunnerServices } from './services.ts';

/** Plans a run of any kind. Starts and writes nothing. */
export async function prepareRun(services: RunnerServices, request: RunRequest): Promise<PreparedRun> {
  if (services.prepareOrchestration !== undefined && isOrchestration(request.kind))
    return services.prepareOrchestration(services, request);
  const plan = await planRun(services, request).catch((error: unknown) => {
    throw planFailure(error, services.workspaces.root);
  });
  // `reopen-run.ts` compares later attempts with the first one, whose plan the token covers.
  const { require_plan } = services.config.config.security;
  if (request.again === undefined && (request.planToken !== undefined || require_plan !== 'never')) {
    // Loaded late: most runs have no token.
    const { checkPlanToken } = await import('./plan/plan-token.ts');
    const planDigest = await checkPlanToken(plan, request.planToken, services.config);
    if (planDigest !== undefined) plan.planDigest = planDigest;
  }
  return { plan, createExecutor: await executorFor(services, plan) };
}

/** Any step that opens something may find that there is no free descriptor. Other errors of the system are described where they occur. */
function planFailure(error: unknown, runsDir: string): unknown {
  const code = errorCode(error);
  return code === 'EMFILE' || code === 'ENFILE' ? storageError(error, 'plan the run', runsDir) : error;
}
