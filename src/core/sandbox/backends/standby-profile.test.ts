import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Profile } from '../profile/profile.ts';
import type { SandboxRequest } from '../sandbox.ts';
import { keyOf } from './standby-profile.ts';

describe('the key of a sandbox that waits', () => {
  let folder: string;
  const features = {} as Parameters<typeof keyOf>[1]['features'];
  const key = ({ open_files = 256, kind = 'full' as Profile['seccomp']['kind'] } = {}) =>
    keyOf(
      {
        folders: { work: join(folder, 'runs', 'r-1', 'work'), writable: [], readable: [] },
        limits: { open_files },
        network: 'none',
      } as unknown as SandboxRequest,
      {
        profile: {
          ...{ sees: 'listed', system: [], mounts: [] },
          executable: ['/usr/bin/cat', join(folder, 'thing')],
          seccomp: { architecture: 'x64', internet: true, isShared: false, kind },
        },
        features,
      },
    );

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-standby-key-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is another one after a program that the tool may start was installed or replaced', () => {
    const write = () => {
      writeFileSync(join(folder, 'new'), '');
      renameSync(join(folder, 'new'), join(folder, 'thing'));
    };
    const none = key();
    assert.equal(key(), none);
    write();
    const installed = key();
    assert.notEqual(installed, none);
    assert.equal(key(), installed);
    write();
    assert.notEqual(key(), installed);
  });

  it('is another one for other limits and other system calls', () => {
    assert.equal(key({}), key({ open_files: 256 }));
    assert.notEqual(key({ open_files: 77 }), key());
    assert.notEqual(key({ kind: 'small' }), key());
  });
});
