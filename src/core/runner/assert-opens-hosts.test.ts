import assert from 'node:assert/strict';
import { it } from 'node:test';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import type { ToolEntry } from '../registry/registry.ts';
import { bubblewrap } from '../sandbox/backends/bubblewrap.ts';
import { landlock } from '../sandbox/backends/landlock.ts';
import { none } from '../sandbox/backends/none.ts';
import { assertOpensHosts } from './assert-opens-hosts.ts';

it('a tool that names hosts is refused where they cannot be opened one by one, with what can', () => {
  const manifest = defaultManifest('calls');
  manifest.permissions.network.egress_allow = ['api.example.com:443'];
  const tool = { name: 'calls', manifest } as ToolEntry;
  assert.throws(() => assertOpensHosts(tool, landlock), {
    code: 'E_SANDBOX_UNAVAILABLE',
    message: /calls.*api\.example\.com:443.*landlock/,
    hint: /bubblewrap/,
  });
  assertOpensHosts(tool, bubblewrap);
  assertOpensHosts(tool, none);
});
