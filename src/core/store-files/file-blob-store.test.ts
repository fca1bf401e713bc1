import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { blobStoreContract } from '../../../test/contracts/blob-store.ts';
import { type MeasuredArtifact, measureArtifact } from './artifacts.ts';
import { FileBlobStore } from './file-blob-store.ts';
import { RunFiles } from './run-files.ts';

const open = () => new FileBlobStore(new RunFiles('/nonexistent'));
const blobs = open();
const read = (blob: MeasuredArtifact, from: number, bytes: number) =>
  blobs.read('r-1', blob, { from, bytes });

blobStoreContract('files', open);

describe('the blob store of files', () => {
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

  it('reads any part of an artifact, also across the chunks in which it reads', async () => {
    for (const [from, count] of [
      [0, 10],
      [262_140, 10],
      [0, 600_000],
      [599_999, 10],
      [600_000, 10],
    ] as const)
      assert.deepEqual(await read(artifact, from, count), bytes.subarray(from, from + count));
  });

  it('reads nothing of a file that has taken the place of the artifact', async () => {
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
      await assert.rejects(read(artifact, 0, 10), { code: 'E_INTEGRITY' });
      rmSync(path);
      await assert.rejects(read(artifact, 0, 10), { code: 'E_INPUT_NOT_FOUND' });
      renameSync(kept, path);
      assert.equal((await read(artifact, 0, 10)).length, 10);
    }
  });
});
