import { loadConfig } from '../../src/core/config/load.ts';
import { Registry, type ToolEntry } from '../../src/core/registry/registry.ts';
import type { ProjectFolder } from './project-folder.ts';

/** The registry of a project, opened for each call as a new command does. */
export function openedRegistry(project: () => ProjectFolder) {
  const open = async () => {
    const { root, at } = project();
    return Registry.open(await loadConfig({ cwd: root, env: { HOME: at('no-home') } }));
  };
  return {
    open,
    list: async () => (await open()).list(),
    find: async (name: string) => (await open()).find(name),
  };
}

export function names(tools: readonly ToolEntry[]): string[] {
  return tools.map(({ name }) => name);
}
