import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openFiles } from '../../../test/support/open-files.ts';
import { ArtifactMeter, filesUnder, measureArtifact } from './artifacts.ts';

const PASS = () => {};

describe('measuring the artifacts of an attempt', () => {
  let folder: string;
  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-artifacts-')));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A file of holes: no byte of it is stored. */
  function sparse(name: string, bytes: number): string {
    const path = join(folder, name);
    writeFileSync(path, '');
    truncateSync(path, bytes);
    return path;
  }

  it('measures files and folders as one call does', async () => {
    mkdirSync(join(folder, 'tree/below'), { recursive: true });
    writeFileSync(join(folder, 'tree/b.txt'), 'b');
    writeFileSync(join(folder, 'tree/below/a.csv'), 'a');
    const meter = new ArtifactMeter([folder], PASS);
    const tree = await meter.measure(join(folder, 'tree'));
    assert.deepEqual(tree, measureArtifact(join(folder, 'tree'), [folder]));
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    assert.equal(tree.sha256, sha256(`${sha256('b')}  b.txt\n${sha256('a')}  below/a.csv\n`));
    assert.deepEqual(filesUnder(join(folder, 'tree')), ['b.txt', 'below/a.csv']);
  });

  it('stops between two pieces when the deadline has passed, and closes the file', async () => {
    const path = sparse('long', 400_000_000);
    let looks = 0;
    const meter = new ArtifactMeter([folder], () => {
      if (++looks === 3) throw new Error('too late');
    });
    await assert.rejects(meter.measure(path), /too late/);
    assert.equal(looks, 3);
    assert.ok(!openFiles().includes(path));
  });

  it('gives timers their turn', async () => {
    const path = sparse('longer', 200_000_000);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await new ArtifactMeter([folder], PASS).measure(path);
    clearInterval(timer);
    assert.ok(turns > 1);
  });

  it('refuses many files that are almost only holes, as it refuses one', async () => {
    const meter = new ArtifactMeter([folder], PASS);
    const paths = Array.from({ length: 8 }, (_, index) => sparse(`part-${index}`, 190_000_000));
    const measured: string[] = [];
    await assert.rejects(
      async () => {
        for (const path of paths) measured.push((await meter.measure(path)).path);
      },
      { code: 'E_PERMISSION', message: /holes/ },
    );
    assert.equal(measured.length, 5);
  });

  it('takes a file of which one byte of a hundred is stored, and refuses it when it is longer', async () => {
    const path = join(folder, 'hundredth');
    writeFileSync(path, Buffer.alloc(10 << 20, 'x'));
    const bytes = 512 * statSync(path).blocks * 100;
    for (const [size, isRefused] of [
      [bytes, false],
      [bytes + 100, true],
    ] as const) {
      truncateSync(path, size);
      const measured = new ArtifactMeter([folder], PASS).measure(path);
      if (isRefused) await assert.rejects(measured, { code: 'E_PERMISSION', message: /holes/ });
      else assert.equal((await measured).size, size);
    }
    rmSync(path);
  });

  it('takes ten thousand files in all, and refuses one more', async () => {
    const meter = new ArtifactMeter([folder], PASS);
    for (const [part, files] of Object.entries({ x: 5_001, y: 4_999, z: 1 })) {
      mkdirSync(join(folder, part));
      for (let index = 0; index < files; index++) writeFileSync(join(folder, part, `${index}`), '');
    }
    assert.equal((await meter.measure(join(folder, 'x'))).files, 5_001);
    assert.equal((await meter.measure(join(folder, 'y'))).files, 4_999);
    await assert.rejects(meter.measure(join(folder, 'z')), { code: 'E_PERMISSION', message: /10000 files/ });
  });

  it('hashes a folder by the sorted names of its files, in whatever order the disk lists them', () => {
    const names = Array.from({ length: 30 }, (_, index) => `${(index * 7919) % 1000}/f${index}`);
    const root = join(folder, 'unsorted');
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    for (const name of names) {
      mkdirSync(join(root, name, '..'), { recursive: true });
      writeFileSync(join(root, name), name);
    }
    const lines = names.toSorted().map((name) => `${digest(name)}  ${name}\n`);
    assert.deepEqual(filesUnder(root), names.toSorted());
    assert.equal(measureArtifact(root, [folder]).sha256, digest(lines.join('')));
  });

  it('hashes a file once, however often it is named', async () => {
    let looks = 0;
    const meter = new ArtifactMeter([folder], () => looks++);
    const path = sparse('named', 40_000_000);
    const first = await meter.measure(path);
    const once = looks;
    assert.equal(await meter.measure(path), first);
    assert.equal(looks, once);
  });
});
