import { workflowFiles, workflowNameOf } from '../../core/workflow/file/find-workflow.ts';
import type { AcorApp } from '../acor-app.ts';

/** Whether a workflow of the project has this name. Throws E_PERMISSION when the caller may not call `workflow.list`. */
export async function isWorkflow(app: AcorApp, name: string): Promise<boolean> {
  await app.authorize({ name: 'workflow.list', effect: 'reads' }, {});
  const { config } = await app.project();
  return workflowFiles(config).some((file) => workflowNameOf(file) === name);
}
