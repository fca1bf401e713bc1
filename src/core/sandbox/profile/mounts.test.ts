import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { layMounts, type Mount } from './mounts.ts';

/** What comes of mounts, written as `path access`. */
function laid(...wanted: string[]): string[] {
  const mounts = wanted.map((text): Mount => {
    const [path, access] = text.split(' ') as [string, Mount['access']];
    return { path, access };
  });
  return layMounts(mounts).map(({ path, access }) => `${path} ${access}`);
}

it('nothing is mounted below what a tool may write', () => {
  assert.deepEqual(laid('/none/a write', '/none/a/b read', '/none/a/b/c write'), ['/none/a write']);
  assert.deepEqual(laid('/none/a/b read', '/none/a write'), ['/none/a write']);
});

it('what is readable may hold what is writable, and holds what is readable already', () => {
  assert.deepEqual(laid('/none/a read', '/none/a/b write', '/none/a/c read'), [
    '/none/a read',
    '/none/a/b write',
  ]);
});

it('a folder is hidden only where it would be seen, and what is granted within it is seen all the same', () => {
  assert.deepEqual(laid('/none/a/hidden empty'), []);
  assert.deepEqual(laid('/none/a read', '/none/a/hidden empty', '/none/a/hidden/own write'), [
    '/none/a read',
    '/none/a/hidden empty',
    '/none/a/hidden/own write',
  ]);
});

it('a grant is mounted at its own path alone: a link that has taken its place leads to nothing that was checked', () => {
  const folder = mkdtempSync(join(tmpdir(), 'acor-mounts-'));
  try {
    symlinkSync('/etc', join(folder, 'link'));
    const path = join(folder, 'link/ssl');
    const paths = (isGrant: boolean) =>
      layMounts([{ path, access: 'write', isGrant }]).map((each) => each.path);
    assert.deepEqual(paths(true), [path]);
    // The control: of other paths, both are needed.
    symlinkSync('/usr', join(folder, 'usr'));
    const both = layMounts([{ path: join(folder, 'usr/share'), access: 'read' }]).map((each) => each.path);
    assert.ok(both.includes('/usr/share'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the same path twice is mounted once, with the larger right', () => {
  assert.deepEqual(laid('/none/a read', '/none/a write'), ['/none/a write']);
  assert.deepEqual(laid('/none/a write', '/none/a read'), ['/none/a write']);
});

it('a name that only begins like another one is another one', () => {
  assert.deepEqual(laid('/none/a write', '/none/a-b read', '/none/ab read'), [
    '/none/a write',
    '/none/a-b read',
    '/none/ab read',
  ]);
});
