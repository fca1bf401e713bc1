import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { hasMeaning } from '../../protocol/names.ts';
import { errorCode } from '../../util/error-code.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';
import { inSlices, TreeCounter, TreeTooLarge, treeSteps } from '../../util/tree-listing.ts';

/** A folder of the project beyond this is opened for reading only, unless the caller names it. */
const LAYER_BOUND = { entries: 5000, bytes: 100_000_000 };

/** What a caller opens for a tool besides the project. */
export interface NamedAccess {
  read: readonly string[];
  write: readonly string[];
  net: readonly string[];
}

/**
 * A tool with what it may do while it is observed: the entries of the project, and what the caller has named. Entries of the project that
 * begin with a dot stay closed: they have keys and settings.
 */
export async function widenTool(
  tool: ToolEntry,
  { read, write, net }: NamedAccess,
  { root, hidden }: { root: string; hidden: readonly string[] },
): Promise<ToolEntry> {
  const { permissions } = tool.manifest;
  const { filesystem, network } = permissions;
  const opened: Record<'read' | 'write', string[]> = { read: [], write: [] };
  using folder = OpenFolder.trusted(root);
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const { name } = entry;
    if (name.startsWith('.') || hasMeaning(name)) continue;
    // A link may lead anywhere.
    if (!entry.isDirectory() && !entry.isFile()) continue;
    const path = join(root, name);
    const isKept = [tool.dir, ...hidden].some((each) => isInside(each, path));
    const isLayer = entry.isDirectory() && !isKept && (await fits(folder, name));
    opened[isLayer ? 'write' : 'read'].push(path);
  }
  const real = (paths: readonly string[]) => paths.map((path) => realPathOf(path, root).path);
  const asked = {
    ...permissions,
    level: 'standard' as const,
    filesystem: {
      ...filesystem,
      read: [...filesystem.read, ...opened.read, ...real(read)],
      write: [...filesystem.write, ...opened.write, ...real(write)],
    },
    network: { ...network, egress_allow: [...new Set([...network.egress_allow, ...net])] },
  };
  return { ...tool, manifest: { ...tool.manifest, permissions: asked } };
}

async function fits(folder: OpenFolder, name: string): Promise<boolean> {
  const counter = new TreeCounter(LAYER_BOUND);
  try {
    await inSlices(
      (function* () {
        for (const { stats } of treeSteps({ folder, name })) {
          counter.add(stats);
          yield undefined;
        }
      })(),
    );
    return true;
  } catch (error) {
    if (error instanceof TreeTooLarge || errorCode(error) === 'EACCES') return false;
    throw error;
  }
}
