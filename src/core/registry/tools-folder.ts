import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';
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
