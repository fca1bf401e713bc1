import { readdirSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { LIST_WORKFLOWS } from '../../../protocol/next-steps.ts';
import { isFile } from '../../../util/is-file.ts';
import { nearestWords } from '../../../util/nearest.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { projectPath } from '../../config/paths.ts';
import { isInside, realPathOf } from '../../registry/real-path.ts';

const ENDINGS = ['.yaml', '.yml', '.json'];

/** Where the workflows of a project lie. */
export function workflowFolders(config: LoadedConfig): string[] {
  return [projectPath(config, '.acor/workflows'), projectPath(config, 'workflows')];
}

/** The name by which a workflow is asked for: that of its file. */
export function workflowNameOf(file: string): string {
  return basename(file, extname(file));
}

/** The workflow files of a project, by folder and name. */
export function workflowFiles(config: LoadedConfig): string[] {
  return workflowFolders(config).flatMap((folder) => {
    const names = readFolder(folder).filter(
      (name) => ENDINGS.includes(extname(name)) && !name.startsWith('.'),
    );
    return names
      .sort()
      .map((name) => join(folder, name))
      .filter(isFile);
  });
}

/**
 * The file of a workflow that is asked for by its name or path. A path must lead to below one of `roots`, with its links
 * followed. Throws E_INPUT_NOT_FOUND, E_PERMISSION, or E_USAGE when two files have the name.
 */
export function findWorkflow(
  wanted: string,
  { config, cwd, roots }: { config: LoadedConfig; cwd: string; roots: readonly string[] },
): string {
  const files = workflowFiles(config);
  const named = isPath(wanted) ? [] : files.filter((file) => workflowNameOf(file) === wanted);
  if (named.length > 1) {
    throw new AcorError('E_USAGE', `more than one workflow is called '${wanted}': ${named.join(', ')}`, {
      hint: 'Give the path of the one that is meant.',
      details: { files: named },
    });
  }
  const [file = resolve(cwd, wanted)] = named;
  if (!isFile(file)) throw notFound(wanted, files);
  const real = realPathOf(file, cwd).path;
  if (roots.some((root) => isInside(real, root))) return file;
  throw new AcorError(
    'E_PERMISSION',
    `the workflow ${file} lies outside of the folders that may be granted`,
    {
      hint: `Move it to below ${roots.join(', ')}, or add its folder to security.grant_roots.`,
    },
  );
}

/** The file of a workflow that another one names: a path from its folder, the first of `folders`, or a name in any of them. */
export function findSubWorkflow(wanted: string, folders: readonly string[]): string {
  const [own = '.'] = folders;
  if (isPath(wanted)) return resolve(own, wanted);
  const places = folders.flatMap((folder) => ENDINGS.map((ending) => join(folder, wanted + ending)));
  return places.find(isFile) ?? resolve(own, `${wanted}.yaml`);
}

function isPath(wanted: string): boolean {
  return wanted.includes('/') || ENDINGS.includes(extname(wanted));
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function notFound(wanted: string, files: readonly string[]): AcorError {
  const names = files.map(workflowNameOf);
  const nearest = nearestWords(wanted, names);
  return new AcorError('E_INPUT_NOT_FOUND', `there is no workflow called '${wanted}'`, {
    hint:
      nearest.length > 0
        ? `Did you mean ${nearest.map((each) => `'${each}'`).join(' or ')}?`
        : 'Workflows are .yaml, .yml or .json files in .acor/workflows/ and workflows/; the path of one will do as well.',
    details: { workflow: wanted, nearest },
    next: [LIST_WORKFLOWS],
  });
}
