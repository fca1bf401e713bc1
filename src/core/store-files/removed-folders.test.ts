import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { RemovedFolders } from './removed-folders.ts';

const ORDINARY_USER = 65_534;
const isRoot = process.geteuid?.() === 0;

describe('the folders of removed runs', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-removed-'));
    // Nothing is forbidden to root.
    if (isRoot) {
      chownSync(root, ORDINARY_USER, ORDINARY_USER);
      process.seteuid!(ORDINARY_USER);
    }
  });
  afterEach(() => {
    if (isRoot) process.seteuid!(0);
    else for (const name of readdirSync(root)) chmodSync(join(root, name), 0o700);
    rmSync(root, { recursive: true, force: true });
  });

  function run(name: string, mode: number): string {
    const inside = join(root, name, 'work', 'locked');
    mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, 'file'), 'x');
    chmodSync(inside, mode);
    return join(root, name);
  }

  it('are deleted, also with folders that the tool has closed', async () => {
    const trash = new RemovedFolders(root);
    for (const mode of [0o700, 0o500, 0]) trash.take(run(`r-${mode}`, mode));
    await trash.delete();
    assert.deepEqual(readdirSync(join(root, 'removed')), []);
    trash.assertAllDeleted();
  });

  it('are all deleted but the one that cannot be, which is reported with its path', {
    skip: !isRoot,
  }, async () => {
    const trash = new RemovedFolders(root);
    const foreign = run('r-foreign', 0o755);
    process.seteuid!(0);
    chownSync(join(foreign, 'work', 'locked'), 0, 0);
    process.seteuid!(ORDINARY_USER);
    const own = run('r-own', 0o700);
    for (const dir of [foreign, own]) trash.take(dir);
    await trash.delete();
    const left = readdirSync(join(root, 'removed'));
    assert.equal(left.length, 1);
    assert.ok(existsSync(join(root, 'removed', left[0]!, 'work', 'locked', 'file')));
    assert.throws(() => trash.assertAllDeleted(), new RegExp(`removed/${left[0]}`));
  });
});
