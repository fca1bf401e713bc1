import type { Config } from '../../protocol/config-file.ts';
import type { Manifest } from '../../protocol/manifest.ts';

/** Something a manifest asks for that the policy does not allow. */
export interface Violation {
  /** Where it stands in the manifest. */
  path: string;
  asked: unknown;
  allowed: unknown;
  rule: string;
  fix: string;
}

/** Holds what a manifest asks for against the policy (contract §9). Nothing found means: allowed. */
export function decide(manifest: Manifest, config: Config): Violation[] {
  return wildcardEgress(manifest, config);
}

function wildcardEgress({ permissions }: Manifest, { security }: Config): Violation[] {
  if (security.allow_network_egress) return [];
  return permissions.network.egress_allow.flatMap((host, index) => {
    if (!host.includes('*')) return [];
    return {
      path: `permissions.network.egress_allow[${index}]`,
      asked: host,
      allowed: 'host:port, each named',
      rule: `wildcard egress is not allowed ('${host}')`,
      fix: `In permissions.network.egress_allow, write each host:port in place of '${host}', such as api.example.com:443.`,
    };
  });
}
