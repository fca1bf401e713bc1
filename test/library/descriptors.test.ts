import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { HANG_MS, TestProject } from '../support/project.ts';

const SOURCES = join(import.meta.dirname, '../../src');

/** Prints after each of thirty runs how many files are open. */
const ONE_AFTER_ANOTHER = `
import { readdirSync } from 'node:fs';
import { Acor } from '${SOURCES}/index.ts';
const acor = new Acor({ cwd: process.argv[2] });
const counts = [];
for (let run = 0; run < 30; run++) {
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
for (let again = 0; last.state !== 'completed' && again < 100; again++) {
  // Node closes the inputs of processes in a later turn of its loop, and a run that fails at once needs none.
  await new Promise((resolve) => setTimeout(resolve, 5));
  last = await endOf();
}
console.log(JSON.stringify({ first, ends, last, more: open() - before }));
`;

/** Requests that a run ends by force, when there is no free descriptor. */
const FORCED = `
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { FileControlChannel } from '${SOURCES}/core/store-files/file-control-channel.ts';
import { FileLeases } from '${SOURCES}/core/store-files/file-leases.ts';
import { newRunId } from '${SOURCES}/util/ids.ts';
const root = process.argv[2];
const runId = newRunId();
const control = join(root, runId, 'control');
mkdirSync(control, { recursive: true });
const leases = new FileLeases(root);
const lease = await leases.acquire(runId, 1);
const channel = new FileControlChannel(root, leases);
const held = [];
const forced = new Promise((resolve) => {
  const listener = channel.listen(runId, 1, { onCancel() {}, onAnswer() {}, onForceCancel: () => resolve(listener) });
  try {
    for (;;) held.push(openSync('/dev/null'));
  } catch {}
  // A file could not be made.
  mkdirSync(join(control, 'KILL'));
});
(await forced).close();
for (const each of held) closeSync(each);
await lease.release();
console.log('forced');
`;

/** Creates runs while others take the last descriptors: 0, 1, 2 … turns of the loop after the start. */
const TAKEN_MEANWHILE = `
import { closeSync, openSync, readdirSync } from 'node:fs';
import { FileRunStore } from '${SOURCES}/core/store-files/file-run-store.ts';
import { newRun } from '${SOURCES}/../test/contracts/new-run.ts';
const root = process.argv[2];
const store = new FileRunStore(root + '/.runs', () => '');
(await store.create(newRun())).close();
const ends = [];
for (let turns = 0; turns < 20; turns++) {
  const held = [];
  const holdAll = () => {
    try {
      for (;;) held.push(openSync('/dev/null'));
    } catch {}
  };
  holdAll();
  for (let count = 0; count < 3; count++) closeSync(held.pop());
  const run = newRun();
  const created = store.create(run).then((writer) => (writer.close(), 'created'), ({ name, code }) => [name, code].join(' '));
  for (let turn = 0; turn < turns; turn++) await null;
  holdAll();
  const end = await created;
  for (const each of held) closeSync(each);
  if (end !== 'created') ends.push([end, readdirSync(root + '/.runs/leases').some((name) => name.startsWith(run.run_id))]);
}
console.log(JSON.stringify(ends));
`;

describe('a process that may open few files', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  it('creates no run without the descriptors for it, says so, and keeps no lease', () => {
    using project = new TestProject({ tools: ['quick'] });
    project.write('taken.mjs', TAKEN_MEANWHILE);
    const { stdout, stderr } = spawnSync(
      'sh',
      [
        '-c',
        'ulimit -n 64; exec "$@"',
        'sh',
        process.execPath,
        join(project.root, 'taken.mjs'),
        project.root,
      ],
      { encoding: 'utf8' },
    );
    assert.notEqual(stdout, '', stderr);
    const refused: [string, boolean][] = JSON.parse(stdout);
    assert.ok(refused.length >= 2, stdout);
    for (const each of refused) assert.deepEqual(each, ['AcorError E_STORAGE', false]);
  });

  it('ends a run by force also when it can open nothing', () => {
    using project = new TestProject();
    project.write('forced.mjs', FORCED);
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', 'ulimit -n 48; exec "$@"', 'sh', process.execPath, project.path('forced.mjs'), project.root],
      { encoding: 'utf8', timeout: HANG_MS },
    );
    assert.equal(stdout, 'forced\n', stderr);
  });

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
    // A run that failed used to keep eight descriptors. The sandbox that waits for the next run has five.
    assert.ok(more < failed.length + 5, `${more} more files are open after ${failed.length} failed runs`);
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
    assert.equal(counts.length, 30, stderr);
    // A run that collected its artifacts used to keep one descriptor. The sandbox that waits for the next run has five.
    const more = Math.min(...counts.slice(24)) - Math.min(...counts.slice(0, 3));
    assert.ok(more <= 6, `${more} more files are open: ${counts.join(' ')}`);
  });
});
