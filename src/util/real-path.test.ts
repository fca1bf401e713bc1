import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../test/support/project-folder.ts';
import { errorCode } from './error-code.ts';
import { isInside, realPathOf } from './real-path.ts';

let folder: ProjectFolder;
beforeEach(() => {
  folder = projectFolder({ 'a/b/file': '' });
});
afterEach(() => folder.remove());

const real = (path: string) => realPathOf(path, folder.root).path;

describe('the real path', () => {
  it('is relative to the folder given, and free of . and ..', () => {
    assert.equal(real('./a//b/../b/file'), folder.at('a/b/file'));
    assert.equal(real('../../../../../../../..'), '/');
  });

  it('goes up from the target of a symlink, as the kernel does', () => {
    folder.link('short', folder.at('a/b'));
    assert.equal(real('short/..'), folder.at('a'));
    assert.equal(real('short/../b/file'), folder.at('a/b/file'));
  });

  it('of what does not exist is that of its deepest ancestor, and the rest', () => {
    folder.link('short', 'a/b');
    const { path, stats } = realPathOf('short/new/file', folder.root);
    assert.deepEqual([path, stats], [folder.at('a/b/new/file'), undefined]);
  });

  it('follows a symlink whose target does not exist', () => {
    folder.link('dangling', '../elsewhere/x');
    assert.equal(real('dangling'), folder.at('../elsewhere/x'));
  });

  it('follows chains of symlinks, absolute and relative', () => {
    folder.link('one', 'a/two');
    folder.link('a/two', folder.at('a/b'));
    assert.equal(real('one/file'), folder.at('a/b/file'));
  });

  it('does not follow a circle for ever', () => {
    folder.link('x', 'y');
    folder.link('y', 'x');
    assert.throws(
      () => real('x'),
      (error) => errorCode(error) === 'ELOOP',
    );
  });

  it('does not lead through a file', () => {
    assert.throws(
      () => real('a/b/file/x'),
      (error) => errorCode(error) === 'ENOTDIR',
    );
  });
});

describe('being inside', () => {
  it('is being the folder, or below it, and not beside it', () => {
    assert.ok(isInside('/a/b', '/a/b'));
    assert.ok(isInside('/a/b/c', '/a/b'));
    assert.ok(isInside('/a', '/'));
    assert.ok(!isInside('/a/bc', '/a/b'));
    assert.ok(!isInside('/a', '/a/b'));
  });
});
