import type { LoadedConfig } from '../../config/load.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Workspaces } from '../workspace.ts';

/** What planning a run reads of its project. */
export interface PlanServices {
  config: LoadedConfig;
  registry: Pick<Registry, 'find' | 'errorCodes' | 'languages'>;
  workspaces: Workspaces;
}
