import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { countOf } from './count-of.ts';

const SRC = join(import.meta.dirname, '..');

describe('a count with its noun', () => {
  it('has the plural except for one', () => {
    assert.deepEqual(
      [0, 1, 2].map((count) => countOf(count, 'run')),
      ['0 runs', '1 run', '2 runs'],
    );
    assert.equal(countOf(2, 'run has', 'runs have'), '2 runs have');
  });

  it('is never written as thing(s)', () => {
    const written = /\$\{[^}]*\} [a-z]+\(s\)/;
    assert.match('${count} run(s)', written);
    const files = globSync('**/*.ts', { cwd: SRC }).filter((path) => !path.endsWith('.test.ts'));
    assert.ok(files.length > 300);
    assert.deepEqual(
      files.filter((path) => written.test(readFileSync(join(SRC, path), 'utf8'))),
      [],
    );
  });
});
