import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type MeasuredArtifact, measureArtifact } from './artifacts.ts';
import { readArtifact } from './read-artifact.ts';

describe('the reading of an artifact', () => {
  let folder: string;
  let path: string;
  let artifact: MeasuredArtifact;
  const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, index) => index % 251));
  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-test-')));
    path = join(folder, 'made.bin');
    writeFileSync(path, bytes);
    artifact = measureArtifact(path, [folder]);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('gives any part of it, also across the borders of what is read at once', () => {
    for (const [from, count] of [
      [0, 10],
      [262_140, 10],
      [0, 600_000],
      [599_999, 10],
      [600_000, 10],
    ] as const)
      assert.deepEqual(readArtifact(artifact, from, count), bytes.subarray(from, from + count));
  });

  it('gives nothing of what has come into its place', () => {
    const secret = join(folder, 'secret');
    for (const put of [
      () => writeFileSync(path, Buffer.concat([bytes, Buffer.from('x')])),
      () => writeFileSync(path, bytes.with(599_999, 255)),
      () => symlinkSync(secret, path),
    ]) {
      const kept = join(folder, 'kept');
      renameSync(path, kept);
      writeFileSync(secret, 'not for you');
      put();
      assert.throws(() => readArtifact(artifact, 0, 10), { code: 'E_STORAGE' });
      rmSync(path);
      assert.throws(() => readArtifact(artifact, 0, 10), { code: 'E_INPUT_NOT_FOUND' });
      renameSync(kept, path);
      assert.equal(readArtifact(artifact, 0, 10).length, 10);
    }
  });
});
