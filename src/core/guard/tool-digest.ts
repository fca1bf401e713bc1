import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { newSha256, sha256Of } from '../../util/sha256.ts';
import { builtPathOf } from '../registry/languages/compiled.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';

/** A file that an approval covers. */
export interface DigestedFile {
  /** Relative to the tool's folder; absolute for a manifest in a registry. */
  name: string;
  sha256: string;
}

/** A digest of a tool's manifest and entry (contract §9), which changes with any change of either. */
export function digestOf(tool: ToolEntry): { digest: string; files: DigestedFile[] } {
  const paths = [...(tool.manifestPath === null ? [] : [tool.manifestPath]), ...programsOf(tool)];
  const files = paths.map((path) => ({ name: nameOf(path, tool.dir), sha256: sha256Of(path) }));
  const sums = files.map(({ sha256 }) => sha256);
  return {
    digest: newSha256()
      .update(JSON.stringify(['acor-tool-1', ...sums]))
      .digest('hex'),
    files,
  };
}

/**
 * The entry and the program built from it; for a tool with a `command`, the files in its folder that the command names.
 */
function programsOf({ entry, command, dir, language }: ToolEntry): string[] {
  const built = builtPathOf({ language, dir });
  if (entry !== null) return built !== undefined && isFile(built) ? [entry, built] : [entry];
  return (command ?? [])
    .map((word) => resolve(dir, word))
    .filter((path) => path.startsWith(`${dir}/`) && isFile(path));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function nameOf(path: string, dir: string): string {
  const name = relative(dir, path);
  return name.startsWith('..') ? path : name;
}
