import type { LoadedConfig } from '../config/load.ts';
import type { ToolEntry } from '../registry/registry.ts';

/** Whether a run of the tool may wait for an answer: the tool asks, or the run asks for hosts (`security.on_denied`). */
export function toolMayAsk({ manifest }: ToolEntry, { config }: Pick<LoadedConfig, 'config'>): boolean {
  const asksForHosts = config.security.on_denied === 'ask' && manifest.permissions.level !== 'privileged';
  return manifest.actions.length > 0 || asksForHosts;
}
