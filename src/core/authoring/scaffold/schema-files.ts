import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isInside } from '../../../util/real-path.ts';
import { ownFile } from '../../registry/own-files.ts';
import { type PlannedFile, planFile, textAt } from './planned-file.ts';

/** The schemas that editors use to validate the project's files. */
export const EDITOR_SCHEMAS = ['config', 'manifest', 'policy'] as const;

type EditorSchema = (typeof EDITOR_SCHEMAS)[number];

/**
 * The folder of the copies. An editor finds them without an installed ACOR, on any machine, in the project's version.
 */
const FOLDER = join('.acor', 'schemas');

/** The schema path for the modeline of a file in `folder`; null for a file outside of the project. */
export function schemaReference(root: string, folder: string, name: EditorSchema): string | null {
  if (folder !== root && !isInside(folder, root)) return null;
  return relative(folder, schemaPath(root, name));
}

/** Plans the project's copy of a schema. */
export function planSchema(root: string, name: EditorSchema, options: { force?: boolean } = {}): PlannedFile {
  const source = ownFile('schemas', `${name}.schema.json`);
  return planFile(schemaPath(root, name), readFileSync(source, 'utf8'), options);
}

/** Whether the project has a copy, of any version. */
export function hasSchema(root: string, name: EditorSchema): boolean {
  return textAt(schemaPath(root, name)) !== undefined;
}

function schemaPath(root: string, name: EditorSchema): string {
  return join(root, FOLDER, `${name}.schema.json`);
}
