import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configDefaults } from '../../../protocol/config-defaults.ts';
import { defaultManifest } from '../../../protocol/default-manifest.ts';
import type { PermissionLevel } from '../../../protocol/manifest-permissions.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { bubblewrap } from '../../sandbox/backends/bubblewrap.ts';
import { landlock } from '../../sandbox/backends/landlock.ts';
import { none } from '../../sandbox/backends/none.ts';
import { networkOf } from './plan-network.ts';

const CONFIG = { config: configDefaults() };

describe('the network that is planned for a tool', () => {
  it('is the hosts that it names', () => {
    for (const backend of [bubblewrap, none]) {
      const { network, egress } = networkOf(CONFIG, tool('standard', 'api.example.com:443'), backend);
      assert.deepEqual([network, egress?.rules.map(({ text }) => text)], ['listed', ['api.example.com:443']]);
    }
    assert.deepEqual(networkOf(CONFIG, tool('minimal'), bubblewrap), { network: 'none' });
  });

  it('is refused where they cannot be opened one by one, with what can', () => {
    for (const level of ['standard', 'privileged'] as const)
      assert.throws(() => networkOf(CONFIG, tool(level, 'api.example.com:443'), landlock), {
        code: 'E_SANDBOX_UNAVAILABLE',
        message: /calls.*api\.example\.com:443.*landlock/,
        hint: /bubblewrap/,
      });
  });

  it('is that of the machine for a privileged tool, where there is one', () => {
    assert.deepEqual(networkOf(CONFIG, tool('privileged', '*'), bubblewrap), { network: 'host' });
    assert.deepEqual(networkOf(CONFIG, tool('privileged'), landlock), { network: 'none' });
  });
});

function tool(level: PermissionLevel, ...hosts: string[]): ToolEntry {
  const manifest = defaultManifest('calls');
  manifest.permissions = { ...manifest.permissions, level, network: { egress_allow: hosts } };
  return { name: 'calls', manifest } as ToolEntry;
}
