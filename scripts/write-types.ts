// Writes the declarations of the six exports, or of one of them, and of what they import, to a new folder:
//   bun scripts/write-types.ts FOLDER [EXPORT]
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';

const ENTRIES = ['index', 'protocol/index', 'tool/index', 'compose/index', 'client/index', 'ai-sdk/index'];
const SPECIFIER = /((?:from |import\()["'])(\.{1,2}\/[^"']+)\.ts(?=["'])/g;

/** The types of `using` are in no library that a project has by default. */
function libraryOf(text: string): string {
  return /\b(?:Async)?Disposable\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : '';
}

const root = dirname(import.meta.dirname);
const target = process.argv[2]!;
const entries = process.argv[3] === undefined ? ENTRIES : [process.argv[3]];
const emitted = mkdtempSync(join(tmpdir(), 'acor-types-'));
try {
  const options = ['-p', join(root, 'tsconfig.types.json'), '--outDir', emitted];
  execFileSync(join(root, 'node_modules', '.bin', 'tsc'), options, {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // The compiler emits every source file that the exports load; their declarations need far fewer.
  const open = entries.map((entry) => `${entry}.d.ts`);
  for (const path of open) {
    const text = readFileSync(join(emitted, path), 'utf8');
    for (const [, , specifier] of text.matchAll(SPECIFIER)) {
      const imported = `${posix.join(posix.dirname(path), specifier!)}.d.ts`;
      if (!open.includes(imported)) open.push(imported);
    }
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), libraryOf(text) + text.replaceAll(SPECIFIER, '$1$2.js'));
  }
} finally {
  rmSync(emitted, { recursive: true, force: true });
}
