import { basename, dirname, join } from 'node:path';
import { type LoadedConfig, registryDirsOf, toolsDirsOf } from '../config/load.ts';
import { problemOf } from '../config/problem.ts';
import { type Candidate, stemOf } from './candidate.ts';
import type { DiscoveryCache } from './discovery-cache.ts';
import type { Language } from './languages/language.ts';
import type { ToolEntry } from './tool-entry.ts';
import type { ToolsFolder } from './tools-folder.ts';

/** Finds all tools of a project, including broken ones, sorted by name (contract §6). Runs nothing. */
export async function discover(
  config: LoadedConfig,
  cache: DiscoveryCache,
  languages: readonly Language[],
): Promise<ToolEntry[]> {
  const { patterns, auto_discover } = config.config.discovery;
  const registries = await registryFolders(config, cache);
  const tools: ToolEntry[] = [];
  // A copy, because a duplicate name adds a problem to it.
  const keep = (tool: ToolEntry | null): void => {
    if (tool !== null) tools.push({ ...tool, problems: [...tool.problems] });
  };
  const add = (candidate: Omit<Candidate, 'languages'>): void | Promise<void> => {
    const id = `tool:${[candidate.path, candidate.language, ...candidate.registryFolders].join('|')}`;
    const tool = cache.unit(id, async (files) => {
      const { readTool } = await import('./read-tool.ts');
      return readTool({ ...candidate, languages }, files);
    });
    return tool instanceof Promise ? tool.then(keep) : keep(tool);
  };

  const folders = await toolsFolders(config, cache);
  for (const folder of folders) {
    for (const child of folder.children) {
      const name = child.kind === 'folder' ? child.name : stemOf(child.name);
      const path = join(folder.real, child.name);
      const added = add({
        path,
        name,
        kind: child.kind,
        root: folder.real,
        registryFolders: registries.get(name) ?? [],
      });
      if (added !== undefined) await added;
    }
  }
  const found = auto_discover ? tools : tools.filter((tool) => tool.manifestPath !== null);
  tools.splice(0, tools.length, ...found);

  for (const { real } of folders) {
    const matches = await cache.unit(`patterns:${real}`, async (files) => {
      const { matchPatterns } = await import('./tools-folder.ts');
      return matchPatterns(real, patterns, files);
    });
    for (const { path, language } of matches) {
      if (tools.some((tool) => tool.entry === path)) continue;
      const stem = stemOf(basename(path));
      const name = stem === 'cli' || stem === 'main' ? basename(dirname(path)) : stem;
      await add({
        path,
        name,
        kind: 'file',
        root: real,
        registryFolders: registries.get(name) ?? [],
        language,
      });
    }
  }
  const taken = new Set(tools.flatMap(({ manifestPath }) => manifestPath ?? []));
  for (const [name, paths] of registries) {
    for (const path of paths) {
      if (paths.some((each) => taken.has(join(each, 'tool.yaml')))) continue;
      await add({
        path,
        name,
        kind: 'folder',
        root: dirname(path),
        registryFolders: [],
        needsManifest: true,
      });
    }
  }
  markRivals(tools);
  return tools.sort((a, b) => compare(a.name, b.name) || compare(placeOf(a), placeOf(b)));
}

async function toolsFolders(config: LoadedConfig, cache: DiscoveryCache): Promise<ToolsFolder[]> {
  const folders = new Map<string, ToolsFolder>();
  for (const dir of toolsDirsOf(config)) {
    const folder = await toolsFolder(dir, cache);
    folders.set(folder.real, folder);
  }
  return [...folders.values()];
}

async function toolsFolder(dir: string, cache: DiscoveryCache): Promise<ToolsFolder> {
  return cache.unit(`folder:${dir}`, async (files) => {
    const { readToolsFolder } = await import('./tools-folder.ts');
    return readToolsFolder(dir, files);
  });
}

/** The folders in the registries, by the tool that they belong to. */
async function registryFolders(config: LoadedConfig, cache: DiscoveryCache): Promise<Map<string, string[]>> {
  const byName = new Map<string, string[]>();
  for (const dir of registryDirsOf(config)) {
    const { real, children } = await toolsFolder(dir, cache);
    for (const { name, kind } of children) {
      const path = join(real, name);
      const paths = byName.get(name) ?? [];
      if (kind !== 'file' && !paths.includes(path)) byName.set(name, [...paths, path]);
    }
  }
  return byName;
}

function markRivals(tools: readonly ToolEntry[]): void {
  const byName = new Map<string, ToolEntry[]>();
  for (const tool of tools) byName.set(tool.name, [...(byName.get(tool.name) ?? []), tool]);
  for (const [name, rivals] of byName) {
    if (rivals.length < 2) continue;
    const places = rivals.map(placeOf);
    for (const tool of rivals) {
      tool.problems.push(
        problemOf(
          placeOf(tool),
          'duplicate-name',
          `${rivals.length} tools have the name '${name}': ${places.join(' and ')}`,
          'Rename or remove one of them.',
        ),
      );
    }
  }
}

function placeOf(tool: ToolEntry): string {
  return tool.link ?? tool.entry ?? tool.problems[0]?.file ?? tool.manifestPath ?? tool.dir;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
