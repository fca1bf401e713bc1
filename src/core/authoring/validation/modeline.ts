import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { FIX_SAFELY } from '../../../protocol/next-steps.ts';
import { isInside } from '../../../util/real-path.ts';
import { type Finding, findingOf } from './finding.ts';

const MODELINE = /^\ufeff?#\s*yaml-language-server:\s*\$schema=\S+/m;

/** The folder of a project that contains the schemas for editors. */
export function schemaFolder(root: string): string {
  return join(root, '.acor', 'schemas');
}

/**
 * Whether a file should have a modeline with its schema and lacks it. This concerns only files of a project whose
 * `.acor` contains the schema. A link that leads out of the project is not followed.
 */
export function lacksModeline(file: string, text: string, root: string): boolean {
  if (MODELINE.test(text) || !existsSync(join(root, '.acor'))) return false;
  const folder = schemaFolder(root);
  const places = existsSync(folder) ? [file, folder] : [file];
  return places.every((place) => isInside(realpathSync(place), realpathSync(root)));
}

/** The finding for a missing modeline. */
export function noModeline(file: string): Finding {
  return findingOf({
    file,
    line: 1,
    column: 1,
    rule: 'no-modeline',
    message: 'the file does not name its schema for editors',
    fix: 'Let ACOR add the line.',
    next: [FIX_SAFELY],
  });
}
