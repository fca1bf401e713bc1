// Writes the declarations of all exports, or of those that are named, and of what they import, to a new folder:
//   bun scripts/write-types.ts FOLDER [EXPORT…]
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';

const ENTRIES = [
  ...['index', 'protocol/index', 'tool/index', 'compose/index', 'compose/beside'],
  ...['client/index', 'ai-sdk/index'],
];
const SPECIFIER = /((?:from |import\()["'])(\.{1,2}\/[^"']+)\.ts(?=["'])/g;

/** The types of `using` are in no library that a project has by default. */
function libraryOf(text: string): string {
  return /\b(?:Async)?Disposable\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : '';
}

/** Without the check of all types, which takes twice as long as the rest, and which `npm run check` makes. */
function settingsFor(entries: readonly string[], outDir: string): object {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      declaration: true,
      emitDeclarationOnly: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(root, 'src'),
      outDir,
      typeRoots: [join(root, 'node_modules', '@types')],
    },
    include: [],
    files: entries.map((entry) => join(root, 'src', `${entry}.ts`)),
  };
}

const root = dirname(import.meta.dirname);
const [target, ...named] = process.argv.slice(2) as [string, ...string[]];
const entries = named.length === 0 ? ENTRIES : named;
const emitted = mkdtempSync(join(tmpdir(), 'acor-types-'));
try {
  const settings = join(emitted, 'tsconfig.json');
  writeFileSync(settings, JSON.stringify(settingsFor(entries, emitted)));
  execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', settings], {
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
