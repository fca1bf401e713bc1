import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readRun, TestProject } from '../../../test/support/project.ts';
import { bubblewrap } from './backends/bubblewrap.ts';
import { none } from './backends/none.ts';
import { ProbeCache } from './probe-cache.ts';
import { digestOf } from './seccomp/assemble-filter.ts';
import { seccompFilter } from './seccomp/filter.ts';

const RULES = { architecture: 'x64', internet: true, isShared: false, kind: 'full' } as const;
const DIGEST = digestOf(RULES);
const RIGHT = seccompFilter(RULES).toString('hex');

/** The filter that a new process takes from the cache: what a process has used once stays in its memory. */
function filterOfAnotherProcess(folder: string): { filter: string; assembled: boolean } {
  const script = `
    import { ProbeCache } from ${JSON.stringify(join(import.meta.dirname, 'probe-cache.ts'))};
    const filter = await new ProbeCache(${JSON.stringify(folder)}).filterOf(${JSON.stringify(RULES)});
    const assembled = Object.keys(require.cache).some((path) => path.endsWith('/seccomp/filter.ts'));
    console.log(JSON.stringify({ filter: Buffer.from(filter).toString('hex'), assembled }));
  `;
  const file = join(folder, 'script.ts');
  writeFileSync(file, script);
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

const needsBubblewrap = (await bubblewrap.probe()).available ? {} : { skip: 'no bubblewrap works here' };

describe('the cached probes', () => {
  it('are known to the first run of another project of the user', needsBubblewrap, async () => {
    using first = new TestProject();
    using second = new TestProject();
    const env = { XDG_CACHE_HOME: first.path('caches') };
    const file = first.path('caches', 'acor', 'sandbox.json');
    for (const project of [first, second]) project.write('tools/hello', '#!/bin/bash\necho hello\n', 0o755);
    const run = async (project: TestProject) => readRun(await project.acor(['run', 'hello'], { env })).end;
    assert.equal((await run(first)).state, 'completed');
    const { ino, mtimeNs } = statSync(file, { bigint: true });
    assert.equal((await run(second)).state, 'completed');
    // A run that tests a sandbox replaces the file.
    const now = statSync(file, { bigint: true });
    assert.deepEqual([now.ino, now.mtimeNs], [ino, mtimeNs]);
    assert.ok(!existsSync(second.path('.runs', 'cache', 'sandbox.json')));
    rmSync(file);
    assert.equal((await run(second)).state, 'completed');
    assert.ok(existsSync(file));
  });

  it('are those of several backends and settings in turn, and at most eight', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'acor-cache-'));
    const probe = async () => ({ available: true, detail: 'works' });
    const backends = Array.from({ length: 10 }, (_, index) => ({
      ...none,
      name: 'none',
      identity: `setting ${index} ${folder}`,
      probe,
    }));
    const kept = () => Object.keys(JSON.parse(readFileSync(join(folder, 'sandbox.json'), 'utf8')).probes);
    const names = () => kept().map((key) => /setting \d+/.exec(key)?.[0]);
    for (const backend of backends.slice(0, 2)) await new ProbeCache(folder).probe(backend);
    assert.deepEqual(names(), ['setting 0', 'setting 1']);
    for (const backend of backends.slice(2)) await new ProbeCache(folder).probe(backend);
    assert.deepEqual(
      names(),
      backends.slice(2).map((_, index) => `setting ${index + 2}`),
    );
    rmSync(folder, { recursive: true });
  });
});

const isBun = process.versions['bun'] !== undefined;

describe('the cached filter of system calls', isBun ? {} : { skip: 'lists loaded modules by Bun' }, () => {
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-cache-'));
    file = join(folder, 'sandbox.json');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const write = (text: string) => writeFileSync(file, text, { mode: 0o600 });
  const kept = () => JSON.parse(readFileSync(file, 'utf8')).filters[DIGEST];

  it('is assembled once, and taken from the cache by the next process', () => {
    assert.deepEqual(filterOfAnotherProcess(folder), { filter: RIGHT, assembled: true });
    assert.equal(kept(), RIGHT);
    assert.deepEqual(filterOfAnotherProcess(folder), { filter: RIGHT, assembled: false });
  });

  /** One instruction: return SECCOMP_RET_ALLOW. */
  const allowsEverything = '060000000000ff7f';
  for (const [what, text] of [
    ['is not JSON', '{"filters":'],
    ['is of an earlier version', JSON.stringify({ key: { available: true, detail: '' } })],
    ['is cut short', JSON.stringify({ probes: {}, filters: { [DIGEST]: RIGHT.slice(0, -16) } })],
    ['has a changed bit', JSON.stringify({ probes: {}, filters: { [DIGEST]: RIGHT.replace('a', 'b') } })],
    ['holds a filter that allows everything', JSON.stringify({ filters: { [DIGEST]: allowsEverything } })],
    ['holds no text', JSON.stringify({ probes: {}, filters: { [DIGEST]: 7 } })],
  ] as const) {
    it(`is assembled again when the cache ${what}`, () => {
      write(text);
      assert.deepEqual(filterOfAnotherProcess(folder), { filter: RIGHT, assembled: true });
      assert.equal(kept(), RIGHT);
    });
  }
});
