import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { OpenFolder } from '../../../util/open-folder.ts';
import { visitTree } from './ownership.ts';

describe('the walk that changes owners', () => {
  let root: string;
  const visited = (path: string, { from, isDeep = true }: { from?: OpenFolder; isDeep?: boolean } = {}) => {
    const paths: string[] = [];
    visitTree(join(root, path), { isDeep, from }, ({ path: at }) => {
      paths.push(at.slice(root.length + 1));
      return undefined;
    });
    return paths.sort();
  };

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-owner-')));
    mkdirSync(join(root, 'logs/tool/deep'), { recursive: true });
    writeFileSync(join(root, 'logs/tool/file'), '');
    writeFileSync(join(root, 'tool'), '');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('visits a folder with everything below it, or a file, from an open folder as from the root', () => {
    using from = OpenFolder.real(root);
    const all = ['logs/tool', 'logs/tool/deep', 'logs/tool/file'];
    assert.deepEqual(visited('logs/tool', { from }), all);
    assert.deepEqual(visited('logs/tool'), all);
    assert.deepEqual(visited('logs/tool', { from, isDeep: false }), ['logs/tool']);
    assert.deepEqual(visited('tool', { from }), ['tool']);
  });

  it('visits nothing where a folder on the way is gone, and not what has its name elsewhere', () => {
    using from = OpenFolder.real(root);
    rmSync(join(root, 'logs'), { recursive: true });
    assert.deepEqual(visited('logs/tool', { from }), []);
    assert.deepEqual(visited('logs', { from }), []);
  });

  it('visits a link itself, and not where it leads', () => {
    using from = OpenFolder.real(root);
    rmSync(join(root, 'tool'));
    symlinkSync('logs', join(root, 'tool'));
    assert.deepEqual(visited('tool', { from }), ['tool']);
    assert.throws(() => visited('tool/tool', { from }), { code: 'ENOTDIR' });
  });
});
