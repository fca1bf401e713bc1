import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dependenciesOf } from '../../scripts/run-dependencies.mjs';
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

  function compile() {
    return spawnSync('sh', ['scripts/build.sh'], { cwd: checkout, encoding: 'utf8' });
  }

  it('compiles, and the program starts', () => {
    const { status, stderr } = compile();
    assert.equal(status, 0, stderr);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const answer = execFileSync(join(checkout, 'dist', 'acor'), ['version'], {
      cwd: tmpdir(),
      encoding: 'utf8',
    });
    assert.equal(JSON.parse(answer).data.version, version);
  });

  it('does not compile when one of these packages is missing', () => {
    rmSync(join(checkout, 'node_modules', 'htm'), { recursive: true });
    const { status, stderr } = compile();
    assert.notEqual(status, 0);
    assert.match(stderr, /htm/);
  });
});
