import type { LoadedConfig } from '../../config/load.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Workspaces } from '../workspace.ts';

/** The parts of a project that planning a run reads. */
export interface PlanServices {
  config: LoadedConfig;
  registry: Pick<Registry, 'find' | 'errorCodes' | 'languages'>;
  workspaces: Workspaces;
}
