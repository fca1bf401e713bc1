import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dependenciesOf } from '../../scripts/run-dependencies.mjs';
import { librarySnippets } from '../support/library-snippets.ts';
import { ROOT } from '../support/project.ts';

const NOT_SOURCES = ['node_modules', 'dist', '.git', 'test-results', 'test'].map((each) => join(ROOT, each));

/** All but the program of Bun, to which a link leads. */
const isSmall = (path: string) => path !== join(ROOT, 'node_modules', 'bun', 'bin');

describe('a checkout with only what its first start installs', () => {
  let checkout: string;
  before(() => {
    checkout = mkdtempSync(join(tmpdir(), 'acor-first-use-'));
    cpSync(ROOT, checkout, { recursive: true, filter: (path) => !NOT_SOURCES.includes(path) });
    // Copies, because a link would lead to the packages beside it, which are more.
    for (const path of Object.keys(dependenciesOf(ROOT)))
      if (path !== '' && !path.includes('@oven/'))
        cpSync(join(ROOT, path), join(checkout, path), { recursive: true, filter: isSmall });
    const programs = join(checkout, 'node_modules', '.bin');
    mkdirSync(programs);
    symlinkSync(join(ROOT, 'node_modules', '.bin', 'bun'), join(programs, 'bun'));
  });
  after(() => rmSync(checkout, { recursive: true, force: true }));

  function compile(...options: string[]) {
    return spawnSync('sh', ['scripts/build.sh', ...options], { cwd: checkout, encoding: 'utf8' });
  }

  it('compiles, and the program starts', () => {
    const { status, stderr } = compile('--standalone');
    assert.equal(status, 0, stderr);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const answer = execFileSync(join(checkout, 'dist', 'acor'), ['version'], {
      cwd: tmpdir(),
      encoding: 'utf8',
    });
    assert.equal(JSON.parse(answer).data.version, version);
  });

  it('has a library that Node imports and runs, when the packages are removed again', async () => {
    const packages = join(checkout, 'node_modules');
    renameSync(packages, `${packages}.away`);
    try {
      const node = createRequire(import.meta.url).resolve('node/bin/node');
      const file = join(checkout, 'examples', 'snippet.mjs');
      const [snippet] = librarySnippets();
      writeFileSync(file, snippet!);
      const run = () => spawnSync(node, [file], { cwd: join(checkout, 'examples'), encoding: 'utf8' });
      const { stdout, stderr } = run();
      assert.match(stdout, /^completed /, stderr);
      for (const name of ['protocol', 'compose', 'compose/beside', 'tool', 'client'])
        execFileSync(node, ['-e', `import('acor/${name}').catch(() => process.exit(1))`], { cwd: checkout });
      rmSync(join(checkout, 'dist', 'node_modules'), { recursive: true });
      assert.match(run().stderr, /zod/);
    } finally {
      renameSync(`${packages}.away`, packages);
    }
  });

  it('does not compile when one of these packages is missing', () => {
    rmSync(join(checkout, 'node_modules', 'htm'), { recursive: true });
    const { status, stderr } = compile();
    assert.notEqual(status, 0);
    assert.match(stderr, /htm/);
  });
});
