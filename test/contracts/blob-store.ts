import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { BlobStore } from '../../src/core/ports/blob-store.ts';
import { measureArtifact } from '../../src/core/store-files/artifacts.ts';

/** The contract of every blob store. */
export function blobStoreContract(name: string, open: () => BlobStore): void {
  describe(`the blob store '${name}'`, () => {
    let folder: string;
    before(() => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-blobs-')));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    async function kept(store: BlobStore, content: string) {
      const path = join(folder, 'made.txt');
      writeFileSync(path, content);
      const blob = measureArtifact(path, [folder]);
      await store.keep('r-1', blob);
      return blob;
    }

    it('reads what it keeps, whole and in parts', async () => {
      const store = open();
      const blob = await kept(store, 'the content');
      const read = async (from: number, bytes: number) =>
        (await store.read('r-1', blob, { from, bytes })).toString();
      assert.deepEqual(
        [await read(0, 100), await read(4, 3), await read(8, 100), await read(11, 5)],
        ['the content', 'con', 'ent', ''],
      );
    });

    it('never reads other content than what the run made', async () => {
      const store = open();
      const blob = await kept(store, 'the content');
      writeFileSync(blob.path, 'THE CONTENT');
      const read = await store.read('r-1', blob, { from: 0, bytes: 100 }).catch(({ code }) => code);
      assert.ok(read === 'E_INTEGRITY' || read.toString() === 'the content', String(read));
    });

    it('has nothing under a digest that it does not keep', async () => {
      const blob = { path: join(folder, 'never'), size: 3, sha256: '0'.repeat(64) };
      await assert.rejects(open().read('r-1', blob, { from: 0, bytes: 3 }), { code: 'E_INPUT_NOT_FOUND' });
    });
  });
}
