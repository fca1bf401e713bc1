import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_DEFAULTS } from '../../protocol/config-defaults.ts';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import type { Manifest } from '../../protocol/manifest.ts';
import { decide } from './decide.ts';

describe('the policy', () => {
  it('allows hosts that are named', () => {
    assert.deepEqual(decide(asking('api.example.com:443', '[::1]:80'), CONFIG_DEFAULTS), []);
  });

  it('refuses every wildcard, with the place, the rule and the fix', () => {
    const violations = decide(
      asking('ok.example.com:443', '*', '*:443', '*.example.com:443', 'a.example.com:*'),
      CONFIG_DEFAULTS,
    );
    assert.deepEqual(
      violations.map(({ path, asked }) => [path, asked]),
      [
        ['permissions.network.egress_allow[1]', '*'],
        ['permissions.network.egress_allow[2]', '*:443'],
        ['permissions.network.egress_allow[3]', '*.example.com:443'],
        ['permissions.network.egress_allow[4]', 'a.example.com:*'],
      ],
    );
    assert.match(violations[0]!.rule, /wildcard egress/);
    assert.match(violations[0]!.fix, /host:port/);
  });

  it('allows them where the configuration opens the network', () => {
    const security = { ...CONFIG_DEFAULTS.security, allow_network_egress: true };
    assert.deepEqual(decide(asking('*'), { ...CONFIG_DEFAULTS, security }), []);
  });
});

function asking(...egress_allow: string[]): Manifest {
  const manifest = defaultManifest('t');
  return { ...manifest, permissions: { ...manifest.permissions, network: { egress_allow } } };
}
