import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const SOURCES = join(import.meta.dirname, '../../src');

/** Prints after each of twelve runs how many files are open. */
const ONE_AFTER_ANOTHER = `
import { readdirSync } from 'node:fs';
import { Acor } from '${SOURCES}/index.ts';
const acor = new Acor({ cwd: process.argv[2] });
const counts = [];
for (let run = 0; run < 12; run++) {
  const { state } = await acor.run('quick');
  if (state !== 'completed') throw new Error(state);
  counts.push(readdirSync('/proc/self/fd').length);
}
console.log(JSON.stringify(counts));
`;

/** Starts eight runs at once, three times, in a process that may open 48 files. */
const SCRIPT = `
import { readdirSync } from 'node:fs';
import { Acor, AcorError } from '${SOURCES}/index.ts';
// Sources that are loaded late need a descriptor each; the program has them inside.
await import('${SOURCES}/core/sandbox/backends/bubblewrap-probe.ts');
const acor = new Acor({ cwd: process.argv[2] });
const open = () => readdirSync('/proc/self/fd').length;
const endOf = () => acor.run('quick').then(
  ({ state, code, message, hint }) => ({ state, code, message, hint }),
  (error) => ({ state: error instanceof AcorError ? 'refused' : String(error.stack), code: error.code, message: error.message, hint: error.hint }),
);
const first = await endOf();
const before = open();
const ends = [];
for (let round = 0; round < 3; round++) ends.push(...(await Promise.all(Array.from({ length: 8 }, endOf))));
// On a busy machine a run that failed gives its last descriptors back a moment after its end.
let last = await endOf();
for (let again = 0; last.state !== 'completed' && again < 100; again++) last = await endOf();
console.log(JSON.stringify({ first, ends, last, more: open() - before }));
`;

describe('a process that may open few files', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  it('fails the runs for which there is no descriptor, and keeps none of theirs', () => {
    using project = new TestProject({ tools: ['quick'] });
    project.write('many.mjs', SCRIPT);
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', 'ulimit -n 48; exec "$@"', 'sh', process.execPath, join(project.root, 'many.mjs'), project.root],
      { encoding: 'utf8' },
    );
    const { first, ends, last, more } = JSON.parse(stdout || `{"first": ${JSON.stringify(stderr)}}`);
    assert.equal(first.state, 'completed', stderr);
    const failed = ends.filter(({ state }: { state: string }) => state !== 'completed');
    assert.ok(failed.length > 0, 'the limit was never reached');
    for (const { state, code, message, hint } of failed) {
      assert.match(state, /^(failed|refused)$/);
      assert.match(code, /^E_/);
      assert.ok(code !== 'E_STORAGE' || /ulimit -n/.test(hint), `${message}: ${hint}`);
    }
    assert.equal(last.state, 'completed');
    // A run that failed used to keep eight descriptors.
    assert.ok(more < failed.length, `${more} more files are open after ${failed.length} failed runs`);
  });
});

describe('a process that runs tools one after another', {
  skip: process.platform !== 'linux' && 'Linux',
}, () => {
  it('has as many files open after the last run as after the first ones', () => {
    using project = new TestProject({ tools: ['quick'] });
    project.write('again.mjs', ONE_AFTER_ANOTHER);
    const { stdout, stderr } = spawnSync(process.execPath, [join(project.root, 'again.mjs'), project.root], {
      encoding: 'utf8',
    });
    const counts: number[] = JSON.parse(stdout || '[]');
    assert.equal(counts.length, 12, stderr);
    // A run that collected its artifacts used to keep one descriptor.
    const more = Math.min(...counts.slice(6)) - Math.min(...counts.slice(0, 3));
    assert.ok(more <= 1, `${more} more files are open: ${counts.join(' ')}`);
  });
});
