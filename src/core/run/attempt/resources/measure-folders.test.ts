import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { measureFolders } from './measure-folders.ts';

describe('the disk space of folders', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-measured-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => join(folder, name);
  const blocksOf = (...names: string[]) =>
    names.reduce((sum, name) => sum + statSync(at(name)).blocks * 512, 0);
  const measure = (more: { maxEntries?: number; isStopped?: () => boolean } = {}) =>
    measureFolders([folder], { maxEntries: 1_000, isStopped: () => false, ...more });

  it('counts allocated blocks: no holes, no target of a link, and a file with several names once', async () => {
    mkdirSync(at('sub'));
    writeFileSync(at('sub/data'), Buffer.alloc(1 << 20, 'x'));
    for (const name of ['again', 'sub/third']) linkSync(at('sub/data'), at(name));
    writeFileSync(at('holes'), '');
    truncateSync(at('holes'), 1 << 30);
    symlinkSync('/usr', at('link'));
    const { bytes, entries } = await measure();
    assert.equal(entries, 6);
    const least = blocksOf('sub/data', 'holes');
    // The folders and the link may take blocks of their own.
    assert.ok(bytes >= least && bytes < least + (1 << 19), `${bytes} ${least}`);
  });

  it('ends at the number of entries that counts, and when it is stopped', async () => {
    for (let index = 0; index < 30; index++) writeFileSync(at(`f${index}`), 'x');
    assert.equal((await measure({ maxEntries: 10 })).entries, 10);
    let looks = 0;
    assert.equal((await measure({ isStopped: () => ++looks > 5 })).entries, 5);
    assert.equal((await measure()).entries, 30);
  });

  it('leaves out a folder that is not there', async () => {
    const options = { maxEntries: 10, isStopped: () => false };
    assert.deepEqual(await measureFolders([at('none')], options), { bytes: 0, entries: 0 });
  });
});
