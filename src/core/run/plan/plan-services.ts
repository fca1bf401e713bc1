import type { LoadedConfig } from '../../config/load.ts';
import type { Registry } from '../../registry/registry.ts';
import type { RunStore } from '../../store-files/run-store.ts';

/** What planning a run reads of its project. */
export interface PlanServices {
  config: LoadedConfig;
  registry: Pick<Registry, 'find' | 'errorCodes' | 'languages'>;
  store: RunStore;
}
