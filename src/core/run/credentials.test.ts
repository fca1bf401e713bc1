import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdsCredentials } from './credentials.ts';

describe('a path that holds credentials', () => {
  it('is known by its name', () => {
    for (const path of [
      ...[
        '/etc/shadow',
        '/etc/gshadow',
        '/etc/shadow-',
        '/etc/sudoers',
        '/etc/sudoers.d/me',
        '/etc/ssl/private/x.crt',
      ],
      ...['/home/u/.ssh', '/home/u/.ssh/config', '/root/.aws/credentials', '/home/u/.config/gh/hosts.yml'],
      ...[
        '/home/u/.netrc',
        '/p/.env',
        '/p/.env.local',
        '/p/id_ed25519',
        '/p/server.key',
        '/home/u/.kube/config',
      ],
    ])
      assert.ok(holdsCredentials(path), path);
  });

  it('is not every path', () => {
    for (const path of [
      ...[
        '/etc/passwd',
        '/etc/hosts',
        '/etc/shadows',
        '/usr/share/doc/ssh',
        '/home/u/ssh/config',
        '/p/env',
        '/p/key.txt',
      ],
      ...['/p/.environment', '/etc/ssl/certs/ca.crt', '/home/u/.config/ghostty/config', '/p/id_rsa.pub'],
    ])
      assert.ok(!holdsCredentials(path), path);
  });
});
