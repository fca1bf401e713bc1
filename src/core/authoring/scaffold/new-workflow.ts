import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from '../../../protocol/names.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { type PlannedFile, planFile } from './planned-file.ts';
import { templateFiles } from './templates.ts';
import { writeFiles } from './write-files.ts';

interface NewWorkflowRequest {
  config: Pick<LoadedConfig, 'root' | 'trust'>;
  name: string;
  /** The absolute folder for the file. */
  folder: string;
  /** The workflow of this name that the project has already. */
  rival: string | undefined;
  dryRun: boolean;
}

/**
 * Writes a workflow to begin with. With `dryRun` it only reports what it would write. Throws E_USAGE, E_STORAGE,
 * E_DISK_FULL.
 */
export function newWorkflow({
  config: { root, trust },
  name,
  folder,
  rival,
  dryRun,
}: NewWorkflowRequest): PlannedFile {
  if (!TOOL_NAME.test(name)) throw refusal(`the name '${name}' ${TOOL_NAME_RULE}`);
  const [template] = templateFiles('workflow', { WORKFLOW_NAME: name });
  const file = planFile(join(folder, `${name}.yaml`), template!.text);
  const there = file.action === 'create' ? rival : file.path;
  if (there !== undefined) throw refusal(`the workflow '${name}' already exists: ${there}`);
  writeFiles([file], root, { trust, dryRun });
  return file;
}

function refusal(message: string): AcorError {
  return new AcorError('E_USAGE', message, { hint: 'Choose a different name, such as: --name my_workflow' });
}
