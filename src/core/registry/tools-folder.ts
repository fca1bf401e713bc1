import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';
import { FilePattern } from '../../util/file-pattern.ts';
import type { WatchedFiles } from './watched-files.ts';

/** Folders among the tools that contain no tool. */
const NO_TOOLS = new Set(['registry', 'shared_venv', 'venv', 'node_modules', 'lib']);

/** A tools folder: its real path, and the names in it that may be tools. */
export interface ToolsFolder {
  real: string;
  children: { name: string; kind: 'folder' | 'file' | 'link' }[];
}

/** Lists a tools folder. A missing folder contains no tools. */
export function readToolsFolder(path: string, files: WatchedFiles): ToolsFolder {
  const real = files.realPath(path, path);
  if (real?.stats === undefined) return { real: path, children: [] };
  try {
    const children = (files.list(real.path) ?? []).flatMap((entry) => {
      const kind = entry.isDirectory()
        ? 'folder'
        : entry.isFile()
          ? 'file'
          : entry.isSymbolicLink()
            ? 'link'
            : undefined;
      return kind === undefined || isNoTool(entry.name) ? [] : ({ name: entry.name, kind } as const);
    });
    return { real: real.path, children };
  } catch (error) {
    throw new AcorError('E_CONFIG_INVALID', `the tools folder ${path} cannot be read (${errorCode(error)})`, {
      hint: 'Fix its permissions, or set a different folder in project.tools_dirs.',
      cause: error,
    });
  }
}

/** Whether a name in a tools folder is not a tool. */
export function isNoTool(name: string): boolean {
  return name.startsWith('.') || name.startsWith('_') || NO_TOOLS.has(name);
}

const MAX_DEPTH = 8;

/** The files below a tools folder that match a configured pattern (`discovery.patterns`), with their languages. */
export function matchPatterns(
  root: string,
  patterns: Readonly<Record<string, readonly string[]>>,
  files: WatchedFiles,
): { path: string; language: string }[] {
  const rules = Object.entries(patterns).flatMap(([language, globs]) =>
    globs.map((glob) => ({ language, match: FilePattern.ofPaths(glob) })),
  );
  const found: { path: string; language: string }[] = [];
  const walk = (dir: string, below: string, depth: number): void => {
    for (const entry of files.list(dir) ?? []) {
      if (isNoTool(entry.name)) continue;
      const relative = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) walk(join(dir, entry.name), relative, depth + 1);
        continue;
      }
      const rule = entry.isFile() ? rules.find(({ match }) => match.test(relative)) : undefined;
      if (rule !== undefined) found.push({ path: join(dir, entry.name), language: rule.language });
    }
  };
  if (rules.length > 0) walk(root, '', 0);
  return found;
}
