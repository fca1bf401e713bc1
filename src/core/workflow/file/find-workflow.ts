import { readdirSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { LIST_WORKFLOWS } from '../../../protocol/next-steps.ts';
import { isFile } from '../../../util/files.ts';
import { nearestWords } from '../../../util/nearest.ts';
import { isInside, realPathOf } from '../../../util/real-path.ts';
import { type LoadedConfig, projectPath } from '../../config/load.ts';

const ENDINGS = ['.yaml', '.yml', '.json'];

/** The folders that contain the project's workflows. */
export function workflowFolders(config: LoadedConfig): string[] {
  return [projectPath(config, '.acor/workflows'), projectPath(config, 'workflows')];
}

/** The name of a workflow: its file name without the extension. */
export function workflowNameOf(file: string): string {
  return basename(file, extname(file));
}

/** The workflow files of a project, sorted by folder and name. */
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
 * Finds a workflow file by name or path. The real path must be inside one of `roots`. Throws E_INPUT_NOT_FOUND,
 * E_PERMISSION, or E_USAGE when two files have the name.
 */
export function findWorkflow(
  wanted: string,
  { config, cwd, roots }: { config: LoadedConfig; cwd: string; roots: readonly string[] },
): string {
  const files = workflowFiles(config);
  const named = isPath(wanted) ? [] : files.filter((file) => workflowNameOf(file) === wanted);
  if (named.length > 1) {
    throw new AcorError('E_USAGE', ambiguous(wanted, named), {
      hint: 'Pass the path of the workflow you mean.',
      details: { files: named },
    });
  }
  const [file = resolve(cwd, wanted)] = named;
  if (!isFile(file)) throw notFound(wanted, files);
  const outside = whyOutside(file, roots);
  if (outside === undefined) return file;
  throw new AcorError('E_PERMISSION', outside.message, { hint: outside.fix });
}

/** Why a workflow file is not read: a link of a cloned project, for example, leads out of it. */
export function whyOutside(
  file: string,
  roots: readonly string[],
): { message: string; fix: string } | undefined {
  const real = realPathOf(file, '/').path;
  if (roots.some((root) => isInside(real, root))) return undefined;
  return {
    message: `the workflow ${real} is outside of the folders that ACOR may grant`,
    fix: `Move it into ${roots.join(', ')}, or add its folder to security.grant_roots.`,
  };
}

/**
 * The files that a sub-workflow may be: a path relative to the first of `folders`, or a name there, else in the others. More than one for an
 * ambiguous name; for a name that no file has, where the file would be.
 */
export function findSubWorkflow(wanted: string, folders: readonly string[]): string[] {
  const [own = '.', ...others] = folders;
  if (isPath(wanted)) return [resolve(own, wanted)];
  const filesIn = (places: readonly string[]) =>
    places.flatMap((folder) => ENDINGS.map((ending) => join(folder, wanted + ending)).filter(isFile));
  const [beside, elsewhere] = [filesIn([own]), filesIn(others)];
  if (beside.length > 0) return beside;
  return elsewhere.length > 0 ? elsewhere : [resolve(own, `${wanted}.yaml`)];
}

/** Says that a name is that of several files. */
export function ambiguous(name: string, files: readonly string[]): string {
  return `more than one workflow has the name '${name}': ${files.join(', ')}`;
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
