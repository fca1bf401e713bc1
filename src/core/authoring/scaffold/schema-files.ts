import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isInside } from '../../registry/real-path.ts';
import { sdkPaths } from '../../registry/sdk-paths.ts';
import { type PlannedFile, planFile, textAt } from './planned-file.ts';

/** The schemas that editors hold the files of a project against. */
export const EDITOR_SCHEMAS = ['config', 'manifest', 'policy'] as const;

type EditorSchema = (typeof EDITOR_SCHEMAS)[number];

/** Where the copies lie. An editor finds them without an install, on any machine, and in the version of the project. */
const FOLDER = join('.acor', 'schemas');

/** The name of a schema in the modeline of a file in `folder`; null where the file lies outside of the project. */
export function schemaReference(root: string, folder: string, name: EditorSchema): string | null {
  if (folder !== root && !isInside(folder, root)) return null;
  return relative(folder, schemaPath(root, name));
}

/** Plans the project's copy of a schema. */
export function planSchema(root: string, name: EditorSchema, options: { force?: boolean } = {}): PlannedFile {
  const source = join(sdkPaths().packageRoot, 'schemas', `${name}.schema.json`);
  return planFile(schemaPath(root, name), readFileSync(source, 'utf8'), options);
}

/** Whether the project has its copy, whatever its version. */
export function hasSchema(root: string, name: EditorSchema): boolean {
  return textAt(schemaPath(root, name)) !== undefined;
}

function schemaPath(root: string, name: EditorSchema): string {
  return join(root, FOLDER, `${name}.schema.json`);
}
