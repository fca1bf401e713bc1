import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../../registry/real-path.ts';
import { type Finding, findingOf } from './finding.ts';

const MODELINE = /^#\s*yaml-language-server:\s*\$schema=\S+/m;

/** The folder of a project in which the schemas for editors lie. */
export function schemaFolder(root: string): string {
  return join(root, '.acor', 'schemas');
}

/**
 * Whether a file should name its schema, as editors look for it, and does not. Only files of a project: the schema lies in its
 * `.acor`, and none is made for it. A link in its place that leads elsewhere is not followed.
 */
export function lacksModeline(file: string, text: string, root: string): boolean {
  if (MODELINE.test(text) || !existsSync(join(root, '.acor'))) return false;
  const folder = schemaFolder(root);
  const places = existsSync(folder) ? [file, folder] : [file];
  return places.every((place) => isInside(realpathSync(place), realpathSync(root)));
}

/** What to do about it. */
export function noModeline(file: string): Finding {
  return findingOf({
    file,
    line: 1,
    column: 1,
    rule: 'no-modeline',
    message: 'editors are not told the schema of the file',
    fix: 'Have the line added.',
    next: [{ operation: 'project.validate', input: { fix: true }, why: 'Fix what is safe to fix.' }],
  });
}
