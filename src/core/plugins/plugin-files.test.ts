import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { copyOf, foreignImport, readPluginFiles } from './plugin-files.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'acor-plugin-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(name: string, text: string | Buffer): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

describe('the files of a plugin', () => {
  it('are its own and those that these name by relative paths, however they name them', () => {
    const file = put(
      'p/one.ts',
      `import a from './a.js'; import { type B } from "../b"; export * from './c/';
       const d = await import(\`./d.mjs\`); const e = new URL('./e.bin', import.meta.url); const f = require('./f');`,
    );
    for (const name of ['p/a.ts', 'b.ts', 'p/c/index.ts', 'p/d.mjs', 'p/f.js', 'p/not-named.ts'])
      put(name, '');
    put('p/e.bin', Buffer.from([0xff, 0x00, 0xfe]));
    put('p/f.js', "import './one.ts'; import '../deep.js'");
    put('deep.js', '');
    assert.deepEqual(
      readPluginFiles(file, root).files.map(({ name }) => name),
      ['b.ts', 'deep.js', 'p/a.ts', 'p/c/index.ts', 'p/d.mjs', 'p/e.bin', 'p/f.js', 'p/one.ts'],
    );
  });

  it('have another digest after any change, and after a move', () => {
    const file = put('one.ts', "import './a.ts'");
    const a = put('a.ts', '1');
    const digests = [readPluginFiles(file, root).digest];
    writeFileSync(a, '2');
    digests.push(readPluginFiles(file, root).digest);
    put('a.ts.ts', 'shadows nothing, and may be loaded one day');
    digests.push(readPluginFiles(file, root).digest);
    digests.push(readPluginFiles(put('two.ts', "import './a.ts'"), root).digest);
    assert.equal(new Set(digests).size, digests.length);
  });

  it('are not more than a person could read', () => {
    const file = put('0.ts', "import './1.ts'");
    for (let i = 1; i <= 100; i++) put(`${i}.ts`, `import './${i + 1}.ts'`);
    assert.throws(() => readPluginFiles(file, root), /more than 100 files/);
    rmSync(join(root, '100.ts'));
    assert.equal(readPluginFiles(file, root).files.length, 100);
    writeFileSync(file, Buffer.alloc(3 << 20, 'x'));
    assert.throws(() => readPluginFiles(file, root), /2 MiB/);
  });

  it('are copied byte for byte, and a changed copy is restored', () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00]);
    put('lib/e.bin', bytes);
    const read = readPluginFiles(put('p/one.ts', "'../lib/e.bin'"), root);
    const env = { XDG_CACHE_HOME: join(root, 'cache') };
    const copy = copyOf(read, env);
    const other = join(dirname(copy), '..', 'lib', 'e.bin');
    assert.deepEqual(readFileSync(other), bytes);
    writeFileSync(other, 'changed');
    assert.equal(copyOf(read, env), copy);
    assert.deepEqual(readFileSync(other), bytes);
  });
});

describe('an import of a package', () => {
  const FOREIGN = [
    "import helper from 'helper';",
    "import helper, { type X } from '@scope/helper/deep';",
    "import {\n  one,\n  two,\n} from 'helper';",
    "import 'helper';",
    "export * from 'helper';",
    "const x = await import('helper');",
    "const x = require('helper');",
    "import x from '/absolute.js';",
  ];
  const OWN = [
    "import type { Plugin } from 'acor';",
    "export type { Plugin } from 'acor';",
    "import fs from 'node:fs'; import { join } from 'path';",
    "import { file } from 'bun';",
    "import './own.js';",
    "// import x from 'helper';",
    "const sql = `select * from 'helper'`;",
  ];
  for (const code of FOREIGN) it(`is seen in ${code}`, () => assert.ok(foreignImport(code)));
  for (const code of OWN) it(`is not seen in ${code}`, () => assert.equal(foreignImport(code), undefined));
});
