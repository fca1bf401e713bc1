import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../registry/real-path.ts';
import { type Finding, findingOf } from './finding.ts';

const MODELINE = /^#\s*yaml-language-server:\s*\$schema=\S+/m;

/**
 * Whether a file should name its schema, as editors look for it, and does not. Only files of a project: the schema lies in its
 * `.acor`, and none is made for it.
 */
export function lacksModeline(file: string, text: string, root: string): boolean {
  return (
    !MODELINE.test(text) &&
    existsSync(join(root, '.acor')) &&
    isInside(realpathSync(file), realpathSync(root))
  );
}

/** What to do about it. */
export function noModeline(file: string): Finding {
  return findingOf({
    file,
    line: 1,
    column: 1,
    rule: 'no-modeline',
    message: 'editors are not told the schema of the file',
    fix: 'Have the line added: acor validate --fix',
  });
}
