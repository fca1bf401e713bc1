import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { OpenFolder } from './open-folder.ts';
import { NOT_REGULAR } from './regular-file.ts';
import { removeTree, removeTreeBeside, walkTree } from './walk-tree.ts';

const skip = process.platform === 'linux' ? false : 'this system has no paths through descriptors';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-walk-')));
});
afterEach(() => {
  using above = OpenFolder.trusted(join(root, '..'));
  removeTree(above, root.slice(root.lastIndexOf('/') + 1));
});

describe('an open folder', { skip }, () => {
  it('opens no link, wherever in the path', () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    symlinkSync('a', join(root, 'link'));
    OpenFolder.real(join(root, 'a/b'))[Symbol.dispose]();
    for (const path of ['link', 'link/b'])
      assert.throws(() => OpenFolder.real(join(root, path)), { code: 'ENOTDIR' });
  });

  it('is the same after another took its place', () => {
    mkdirSync(join(root, 'a'));
    mkdirSync(join(root, 'victim'));
    using folder = OpenFolder.real(join(root, 'a'));
    renameSync(join(root, 'a'), join(root, 'moved'));
    symlinkSync('victim', join(root, 'a'));
    writeFileSync(folder.at('x'), 'x');
    assert.deepEqual(readdirSync(join(root, 'victim')), []);
    assert.deepEqual(readdirSync(join(root, 'moved')), ['x']);
  });

  it('opens regular files only, and never waits for a pipe', () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    symlinkSync('/etc/passwd', join(root, 'link'));
    using folder = OpenFolder.real(root);
    for (const name of ['pipe', 'link', '.'])
      assert.throws(() => folder.openFile(name), { code: NOT_REGULAR });
    assert.throws(() => folder.openFile('none'), { code: 'ENOENT' });
  });
});

describe('a walk', { skip }, () => {
  it('visits everything once, folders before and after their entries, and follows no link', () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    writeFileSync(join(root, 'a/b/file'), '');
    symlinkSync('/etc', join(root, 'a/link'));
    using folder = OpenFolder.real(root);
    const steps = [...walkTree(folder)].map(({ kind, path }) => `${kind} ${path.slice(root.length)}`);
    assert.deepEqual(steps.toSorted(), [
      'entry /a/b/file',
      'entry /a/link',
      'folder /a',
      'folder /a/b',
      'left /a',
      'left /a/b',
    ]);
    assert.ok(steps.indexOf('folder /a/b') < steps.indexOf('entry /a/b/file'));
    assert.ok(steps.indexOf('entry /a/b/file') < steps.indexOf('left /a/b'));
  });

  it('ends where folders are nested 3,000 deep, with few descriptors, and removes them', async () => {
    nest(root, 3000);
    using folder = OpenFolder.real(root);
    const before = readdirSync('/proc/self/fd').length;
    let [folders, open] = [0, 0];
    for (const { kind } of walkTree(folder)) {
      if (kind !== 'folder') continue;
      if (++folders % 500 === 0) open = Math.max(open, readdirSync('/proc/self/fd').length - before);
    }
    assert.equal(folders, 3000);
    assert.ok(open < 100, `${open} descriptors`);
    assert.equal(readdirSync('/proc/self/fd').length, before);
    await removeTreeBeside(folder, 'd');
    assert.deepEqual(readdirSync(root), []);
  });

  it('sees names that are no UTF-8', () => {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x61, 0xff])]), '');
    using folder = OpenFolder.real(root);
    assert.deepEqual(
      [...walkTree(folder)].map(({ name }) => [...name]),
      [[0x61, 0xff]],
    );
  });
});

describe('removing', { skip }, () => {
  for (const remove of [removeTree, removeTreeBeside]) {
    it(`removes what its owner may not change at the moment, and leaves what links lead to: ${remove.name}`, async () => {
      mkdirSync(join(root, 'tree/closed/inner'), { recursive: true });
      mkdirSync(join(root, 'victim'));
      writeFileSync(join(root, 'victim/x'), '');
      symlinkSync('../../victim', join(root, 'tree/closed/link'));
      symlinkSync('victim', join(root, 'link'));
      chmodSync(join(root, 'tree/closed'), 0);
      using folder = OpenFolder.real(root);
      for (const name of ['tree', 'link', 'none']) await remove(folder, name);
      assert.deepEqual(readdirSync(root), ['victim']);
      assert.equal(existsSync(join(root, 'victim/x')), true);
    });
  }
});

/** Makes nested folders below the limit on the length of a path, each as `d`. */
function nest(folder: string, depth: number): void {
  rmSync(join(folder, 'd'), { recursive: true, force: true });
  let at = OpenFolder.real(folder);
  for (let level = 0; level < depth; level++) {
    using above = at;
    at = above.makeChild('d');
  }
  at[Symbol.dispose]();
}
