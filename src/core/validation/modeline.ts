import { type Finding, findingOf } from './finding.ts';

const MODELINE = /^#\s*yaml-language-server:\s*\$schema=\S+/m;

/** Whether a file names its schema, as editors look for it. */
export function hasModeline(text: string): boolean {
  return MODELINE.test(text);
}

/** What to do about a file that does not. */
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
