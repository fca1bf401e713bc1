import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix, sep } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BUN_FILES, COMPOSITION_ROOTS, LAYERS, type Layer, LOADERS } from './layers.ts';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const LEAST_FILES = 100;

interface Import {
  specifier: string;
  typeOnly: boolean;
}

describe('the layers', () => {
  it('are kept by every source file', () => {
    const { files, imports, violations } = checkTree(SRC);
    assert.deepEqual(violations, [], `\n${violations.join('\n')}\n`);
    assert.ok(files >= LEAST_FILES && imports > 2 * LEAST_FILES, `${files} files, ${imports} imports read`);
  });

  it('have no cycle: each names only layers below it', () => {
    for (const [index, layer] of LAYERS.entries()) {
      const below = LAYERS.slice(0, index).map(({ folder }) => folder);
      for (const folder of [...layer.folders, ...(layer.typesOnly ?? [])]) {
        assert.ok(below.includes(folder), `${layer.folder} names ${folder}`);
      }
    }
  });

  it('contain no cycle of files, by values or by types', () => {
    assert.deepEqual(
      cyclesOf(importGraph(SRC)),
      [],
      'Fix: move what both files need, often a type, into a file of its own below them.',
    );
  });

  it('are also checked for cycles of types and of late imports', () => {
    const graph = new Map([
      ['a.ts', ['b.ts', 'd.ts']],
      ['b.ts', ['c.ts']],
      ['c.ts', ['a.ts']],
      ['d.ts', ['e.ts']],
      ['e.ts', []],
    ]);
    assert.deepEqual(cyclesOf(graph), [['a.ts', 'b.ts', 'c.ts']]);
    const copy = mkdtempSync(join(tmpdir(), 'acor-layers-'));
    try {
      writeFileSync(join(copy, 'a.ts'), "import type { B } from './b.ts';\n");
      writeFileSync(join(copy, 'b.ts'), "const a = await import('./a.ts');\n");
      assert.deepEqual(cyclesOf(importGraph(copy)), [['a.ts', 'b.ts']]);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it('detect every kind of wrong import, with the rule and the fix (the control)', () => {
    for (const [file, line, expected] of WRONG) {
      const violations = checkPlanted(file, line);
      assert.equal(violations.length, 1, `${file}: ${line}: ${violations.join('\n')}`);
      assert.match(violations[0] ?? '', expected, `${file}: ${line}`);
      assert.match(violations[0] ?? '', new RegExp(`^src/${file}: .*Fix: `), `${file}: ${line}`);
    }
  });

  it('accept the same file with a right import (the control)', () => {
    for (const [file, line] of RIGHT) assert.deepEqual(checkPlanted(file, line), [], `${file}: ${line}`);
  });
});

describe('the reading of imports', () => {
  it('finds every spelling of an import', () => {
    const found = readImports(SPELLINGS).map(
      ({ specifier, typeOnly }) => `${specifier}${typeOnly ? ' type' : ''}`,
    );
    assert.deepEqual(found.sort(), [
      'a-default',
      'b-star',
      'c-names',
      'd-lines',
      'e-mixed',
      'f-type type',
      'g-inline-type',
      'h-effect',
      'i-export',
      'j-export-star',
      'k-export-type type',
      'l-attributes',
      'm-dynamic',
      'n-dynamic-lines',
      'o-template',
      'p-type-query type',
      'q-require',
      'r-builtin',
    ]);
  });

  it('ignores imports in comments and texts', () => {
    const code = [
      "// import { a } from 'no-1';",
      '/**',
      " * import { a } from 'no-2';",
      ' */',
      'const text = "from \'no-3\'";',
      'const from = 1;',
      "const important = 'no-4';",
      "reimport('no-5');",
    ].join('\n');
    assert.deepEqual(readImports(code), []);
  });

  it('finds every import that the parser of the runtime finds', {
    skip: process.versions.bun === undefined,
  }, () => {
    const transpiler = new Bun.Transpiler({ loader: 'ts' });
    let compared = 0;
    for (const file of sourceFiles(SRC)) {
      const code = readFileSync(join(SRC, file), 'utf8');
      const found = new Set(readImports(code).map(({ specifier }) => specifier));
      for (const { path } of transpiler.scanImports(code.replace(/^#!.*/, ''))) {
        assert.ok(found.has(path), `src/${file}: ${path}`);
        compared++;
      }
    }
    assert.ok(compared > LEAST_FILES, `${compared} imports compared`);
  });
});

const WRONG: readonly (readonly [string, string, RegExp])[] = [
  ['protocol/planted.ts', "import { readFileSync } from 'node:fs';", /'node:fs'.*builtin modules/],
  ['protocol/planted.ts', "import { readFileSync } from 'fs';", /'fs'.*builtin modules/],
  ['protocol/planted.ts', "import { newRunId } from '../util/ids.ts';", /protocol may not import util/],
  ['protocol/v1/planted.ts', "import type { Store } from '../../core/ports/run-store.ts';", /core\/ports/],
  [
    'util/planted.ts',
    "import { AcorError } from '../protocol/acor-error.ts';",
    /util may not import protocol/,
  ],
  ['util/planted.ts', "import * as z from 'zod';", /package 'zod'/],
  [
    'tool/planted.ts',
    "import { LOG_LEVELS } from '../protocol/v1/tool-messages.ts';",
    /only types.*import type/,
  ],
  [
    'tool/planted.ts',
    "import { type Log } from '../protocol/v1/tool-messages.ts';",
    /only types.*import type/,
  ],
  [
    'compose/planted.ts',
    "import { AcorError } from '../protocol/index.ts';",
    /compose may not import protocol/,
  ],
  [
    'core/process/planted.ts',
    "import { newRun } from '../store-files/x.ts';",
    /core\/process may not import core\/store-files/,
  ],
  [
    'core/store-files/planted.ts',
    "export * from '../run/x.ts';",
    /core\/store-files may not import core\/run/,
  ],
  ['core/policy/planted.ts', "import { statSync } from 'node:fs';", /builtin modules/],
  ['core/store-files/planted.ts', "const yaml = await import('yaml');", /package 'yaml'/],
  ['core/run/planted.ts', "import { list } from '../../operations/index.ts';", /may not import operations/],
  ['operations/planted.ts', "import { main } from '../cli/main.ts';", /operations may not import cli/],
  ['cli/planted.ts', "import { run } from '../core/run/run.ts';", /cli may not import core\/run/],
  ['cli/planted.ts', "type Run = import('../core/run/run.ts').Run;", /cli may not import core\/run/],
  ['mcp/planted.ts', "import { print } from '../cli/print.ts';", /mcp may not import cli/],
  ['core/process/planted.ts', "import { dlopen } from 'bun:ffi';", /bun:ffi.*runtime-bun\.ts/],
  ['core/process/planted.ts', 'export const version = Bun.version;', /Bun\..*runtime-bun\.ts/],
  ['core/run/planted.ts', 'export const load = (name: string) => import(name);', /cannot be read/],
  ['core/run/planted.ts', "import { x } from 'acor/protocol';", /package 'acor'/],
  ['core/run/planted.ts', "import { x } from '../../../test/support/corpus.ts';", /outside of src/],
  ['somewhere/planted.ts', "import { x } from './y.ts';", /no layer/],
  ['planted.ts', "import { x } from './util/ids.ts';", /no layer/],
];

const RIGHT: readonly (readonly [string, string])[] = [
  ['protocol/planted.ts', "import * as z from 'zod';"],
  ['protocol/planted.ts', "import { checkMessage } from './v1/check-message.ts';"],
  ['tool/planted.ts', "import type { Log } from '../protocol/v1/tool-messages.ts';"],
  ['core/registry/planted.ts', "const { parseDocument } = await import('yaml');"],
  ['core/run/planted.ts', "import { x } from '../ports/run-queue.ts';"],
  ['mcp/planted.ts', "import { x } from '@modelcontextprotocol/server/stdio';"],
  ['cli/planted.test.ts', "import { run } from '../core/run/run.ts';"],
  ['index.ts', "export { run } from './core/run/run.ts';"],
  ['cli/main.ts', "import { open } from '../core/store-files/file-run-store.ts';"],
  ['core/process/runtime-bun.ts', "import { dlopen } from 'bun:ffi';"],
];

const SPELLINGS = `
import a from 'a-default';
import * as b from "b-star";
import { c, d } from 'c-names';
import {
  d1,
  type d2,
} from 'd-lines';
import e, { e1 } from 'e-mixed';
import type { F } from 'f-type';
import { type G } from 'g-inline-type';
import 'h-effect';
export { i } from 'i-export';
export * from 'j-export-star';
export type { K } from 'k-export-type';
import l from 'l-attributes' with { type: 'json' };
const m = await import('m-dynamic');
const n = await import(
  'n-dynamic-lines'
);
const o = await import(\`o-template\`);
type P = import('p-type-query').P;
const q = require('q-require');
const r = process.getBuiltinModule('r-builtin');
`;

function checkTree(root: string): { files: number; imports: number; violations: string[] } {
  let imports = 0;
  const files = sourceFiles(root);
  const violations = files.flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8');
    const found = readImports(code);
    imports += found.length;
    return [...found.map((entry) => judge(file, entry)), judgeGlobals(file, code)].filter(
      (text) => text !== undefined,
    );
  });
  return { files: files.length, imports, violations };
}

/** The files that each source file imports, including type and late imports. */
function importGraph(root: string): Map<string, string[]> {
  const files = sourceFiles(root);
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const found = readImports(readFileSync(join(root, file), 'utf8'));
      const targets = found.map(({ specifier }) =>
        posix.normalize(posix.join(posix.dirname(file), specifier)),
      );
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
}

/** The sets of files that reach each other (Tarjan's strongly connected components of more than one file), each sorted. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file)!);
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (stack.includes(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const cycle = stack.splice(stack.indexOf(file)).sort();
    if (cycle.length > 1) cycles.push(cycle);
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

/** The violations of a tree with one added line. */
function checkPlanted(file: string, line: string): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'acor-layers-'));
  try {
    cpSync(join(SRC, 'util/ids.ts'), join(copy, 'util/ids.ts'));
    cpSync(join(SRC, 'util/ids.ts'), join(copy, file));
    writeFileSync(join(copy, file), `${line}\n${readFileSync(join(SRC, 'util/unreachable.ts'), 'utf8')}`);
    return checkTree(copy).violations;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function sourceFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort();
}

function readImports(code: string): Import[] {
  const plain = withoutCommentLines(code);
  const found: Import[] = [];
  for (const [, type, specifier] of plain.matchAll(STATEMENT)) add(specifier, type !== undefined);
  for (const [, before, quoted, computed] of plain.matchAll(CALL)) {
    add(quoted ?? `computed: ${computed}`, before !== undefined);
  }
  return found;

  function add(specifier: string | undefined, typeOnly: boolean): void {
    if (specifier !== undefined) found.push({ specifier, typeOnly });
  }
}

// The formatter puts each statement at the beginning of a line, where texts and comments of several lines do not begin.
const STATEMENT =
  /^(?:import|export)\s+(type\s+(?!from\b))?(?:(?:[\w$]+\s*,?\s*)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})?\s*from\s*)?['"]([^'"\n]+)['"]/gm;
const CALL =
  /(type\s+[\w$<>]+\s*=\s*)?(?<![\w$.])(?:import|require|process\.getBuiltinModule)\s*\(\s*(?:['"`]([^'"`\n$]+)['"`]|([^)\n]*))/g;

function withoutCommentLines(code: string): string {
  return code.replace(/^\s*(?:\/\/|\/\*|\*).*$/gm, '');
}

function judge(file: string, { specifier, typeOnly }: Import): string | undefined {
  const at = `src/${file}: '${specifier}'`;
  if (specifier.startsWith('computed: ')) {
    if (LOADERS.includes(file)) return undefined;
    return `${at}: an import of a computed name cannot be read. Fix: write the name out.`;
  }
  if (specifier.startsWith('bun:')) return judgeBun(file, specifier);
  if (COMPOSITION_ROOTS.includes(file)) return undefined;
  const layer = layerOf(file);
  if (layer === undefined)
    return `${at}: no layer holds this file. Fix: move it into a folder of LAYERS in test/layers.ts, give its folder a row there, or name it in COMPOSITION_ROOTS if it only puts parts together.`;
  if (isBuiltin(specifier)) {
    if (layer.node) return undefined;
    return `${at}: ${layer.folder} may not import builtin modules (${layer.note}). Fix: move what needs it to a layer above.`;
  }
  return specifier.startsWith('.')
    ? judgeOwn(file, specifier, typeOnly, layer)
    : judgePackage(at, specifier, layer);
}

function judgeOwn(file: string, specifier: string, typeOnly: boolean, layer: Layer): string | undefined {
  const at = `src/${file}: '${specifier}'`;
  const target = posix.normalize(posix.join(posix.dirname(file), specifier));
  if (target.startsWith('..')) return `${at}: it lies outside of src. Fix: move what is needed into src.`;
  const folder = layerOf(target)?.folder ?? dirname(target);
  if (folder === layer.folder || layer.folders.includes(folder)) return undefined;
  if (layer.typesOnly?.includes(folder)) {
    if (typeOnly) return undefined;
    return `${at}: ${layer.folder} may import only types of ${folder} (${layer.note}). Fix: import type { … } instead.`;
  }
  const allowed = [...layer.folders, ...(layer.typesOnly ?? [])].join(', ') || 'no other folder';
  return `${at}: ${layer.folder} may not import ${folder} (${layer.note}). It may import: ${allowed}. Fix: move the code to where both may reach it, or hand the value in from above.`;
}

function judgePackage(at: string, specifier: string, layer: Layer): string | undefined {
  const parts = specifier.split('/');
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  if (layer.packages.includes(name) || layer.packages.includes(`${parts[0]}/*`)) return undefined;
  const allowed = layer.packages.join(', ') || 'none';
  return `${at}: ${layer.folder} may not import the package '${name}' (${layer.note}). Packages it may import: ${allowed}. Fix: use it in a layer above, or add it to the row in test/layers.ts.`;
}

function judgeBun(file: string, used: string): string | undefined {
  if (BUN_FILES.includes(file)) return undefined;
  return `src/${file}: '${used}' exists in Bun only, and is for ${BUN_FILES.join(', ')}. Fix: add it to the interface that those files and their twins for Node implement.`;
}

function judgeGlobals(file: string, code: string): string | undefined {
  const [used] = /(?<![\w$.'"`])Bun\.\w+/.exec(withoutCommentLines(code)) ?? [];
  return used === undefined ? undefined : judgeBun(file, used);
}

function layerOf(file: string): Layer | undefined {
  return LAYERS.find(({ folder }) => file.startsWith(`${folder}/`));
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}
