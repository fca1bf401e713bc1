import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './project.ts';

const IMPORT = `import { Acor } from 'acor';\n`;
const CREATE = `const acor = new Acor({ cwd: '.' });\n`;

/** The snippets of docs/library.md, each as a whole program. */
export function librarySnippets(): string[] {
  const text = readFileSync(join(ROOT, 'docs', 'library.md'), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) =>
    code.includes('new Acor') ? code : `${IMPORT}${CREATE}${code}`,
  );
}
