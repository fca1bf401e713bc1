import type { ToolEntry } from '../registry/registry.ts';
import type { PluginTool } from './plugin.ts';
import type { LoadedPlugin } from './plugin-process.ts';

const MAX_NOTE_CHARS = 300;

/** Asks the plugins in sequence which tools to offer: each plugin gets the list that the previous one returned. */
export async function adjustTools(
  tools: readonly ToolEntry[],
  plugins: readonly LoadedPlugin[],
  onTrouble: (plugin: string, why: string) => void,
): Promise<{ tools: ToolEntry[]; hidden: ReadonlyMap<string, string> }> {
  let left = [...tools];
  const hidden = new Map<string, string>();
  for (const { name: plugin, process } of plugins) {
    try {
      const returned = await process.ask({ ask: 'onDiscovery', tools: left.map(shown) });
      if (returned === null) continue;
      const notes = notesIn(returned);
      const unknown = [...notes.keys()].find((name) => !left.some((tool) => tool.name === name));
      if (unknown !== undefined) throw new Error(`returned an unknown tool from onDiscovery: '${unknown}'`);
      for (const { name } of left) if (!notes.has(name)) hidden.set(name, plugin);
      left = left
        .filter(({ name }) => notes.has(name))
        .map((tool) => withNote(tool, plugin, notes.get(tool.name)));
    } catch (error) {
      onTrouble(plugin, (error as Error).message);
    }
  }
  return { tools: left, hidden };
}

function shown({ name, manifest, language, entry, dir, manifestPath, problems }: ToolEntry): PluginTool {
  return {
    name,
    version: manifest.version,
    description: manifest.description ?? '',
    category: manifest.category ?? null,
    language,
    level: manifest.permissions.level,
    path: entry ?? dir,
    has_manifest: manifestPath !== null,
    broken: problems.length > 0,
  };
}

function notesIn(returned: unknown): Map<string, string | undefined> {
  if (!Array.isArray(returned)) throw new Error('returned no list from onDiscovery');
  return new Map(
    returned.map((each) => {
      const { name, note } = (each ?? {}) as { name?: unknown; note?: unknown };
      if (typeof name !== 'string') throw new Error('returned a tool without a name from onDiscovery');
      return [name, typeof note === 'string' && note !== '' ? note.slice(0, MAX_NOTE_CHARS) : undefined];
    }),
  );
}

function withNote(tool: ToolEntry, plugin: string, note: string | undefined): ToolEntry {
  return note === undefined ? tool : { ...tool, notes: [...(tool.notes ?? []), `${plugin}: ${note}`] };
}
