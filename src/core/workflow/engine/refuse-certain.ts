import { AcorError } from '../../../protocol/acor-error.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { checkTool } from '../../run/plan/check-tool.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunnerServices } from '../../run/services.ts';
import { certainSteps } from '../check/certain-steps.ts';
import { toolCallsOf, worksOf } from '../check/checked-file.ts';
import { workflowFolders } from '../file/find-workflow.ts';
import { readWorkflow } from '../file/read-workflow.ts';
import type { Workflow } from '../model.ts';

/**
 * Refuses a workflow if a step that runs in any case, and whose failure ends the workflow, would be refused for its tool alone: an approval,
 * a secret or a variable is missing, or the policy denies the tool. Reports all such tools at once.
 */
export async function refuseCertain(
  services: RunnerServices,
  request: RunRequest,
  workflow: Workflow,
): Promise<void> {
  const refusals: { step: string; error: AcorError }[] = [];
  for (const [tool, step] of await certainTools(workflow, services.config)) {
    const error = await refusalOf(services, { ...request, kind: 'tool', tool, args: [] });
    if (error !== undefined) refusals.push({ step, error });
  }
  const [first, ...others] = refusals;
  if (first === undefined) return;
  const { code, message, hint, details } = first.error;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  const next = refusals.flatMap(({ error }) => error.next ?? []);
  throw new AcorError(code, `step '${first.step}': ${message}${more}`, {
    ...(hint !== undefined && { hint }),
    details: {
      ...details,
      problems: refusals.map(({ step, error }) => ({ step, code: error.code, message: error.message })),
    },
    next: [...new Map(next.map((step) => [JSON.stringify(step), step])).values()],
  });
}

/** The tools of the steps that run in any case, also in contained workflows, each with the first step that runs it. */
async function certainTools(workflow: Workflow, config: LoadedConfig): Promise<Map<string, string>> {
  const tools = new Map<string, string>();
  const files = new Set<string>();
  const collect = (each: Workflow) => {
    for (const step of certainSteps(each)) {
      for (const { tool } of toolCallsOf(step)) if (!tools.has(tool)) tools.set(tool, step.name);
      for (const work of worksOf(step)) if (work.kind === 'workflow') files.add(work.file);
    }
  };
  collect(workflow);
  // Iterating a Set includes the files that are added during the iteration.
  for (const file of files) {
    const read = await readWorkflow(file, { folders: workflowFolders(config) });
    if (read.workflow !== undefined) collect(read.workflow);
  }
  return tools;
}

async function refusalOf(services: RunnerServices, request: RunRequest): Promise<AcorError | undefined> {
  try {
    const { tool, denied } = await checkTool(services, request);
    if (denied !== undefined) return denied;
    if (tool.manifest.secrets.length === 0) return undefined;
    const { planSecrets } = await import('../../run/secrets/plan-secrets.ts');
    planSecrets(services, tool, { secretInputs: [] }, request);
    return undefined;
  } catch (error) {
    if (error instanceof AcorError) return error;
    throw error;
  }
}
