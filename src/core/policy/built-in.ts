import type { Manifest } from '../../protocol/manifest.ts';
import type { Violation } from './decision.ts';
import { explainDenial, remedySentence } from './explain-denial.ts';
import { coversHost, isWildcard } from './reach.ts';

/** The rules that apply without any policy file. */
export interface BuiltInRules {
  /** `security.allow_network_egress`, and its place. */
  allowsWildcardHosts: boolean;
  by: string;
  /** Wildcards that a policy file allows. */
  named: { hosts: readonly string[]; commands: readonly string[] };
}

/** Rejects wildcard hosts, and `*` among commands, unless the policy allows them. */
export function builtInViolations({ permissions }: Manifest, rules: BuiltInRules): Violation[] {
  const hosts = permissions.network.egress_allow.flatMap((host, index): Violation[] => {
    if (!isWildcard(host) || rules.allowsWildcardHosts) return [];
    if (rules.named.hosts.some((pattern) => coversHost(pattern, host))) return [];
    const text = remedySentence(explainDenial({ kind: 'host', host: 'api.example.com', port: 443 }));
    return [
      {
        path: `permissions.network.egress_allow[${index}]`,
        asked: host,
        allowed: 'host:port, each named',
        by: rules.by,
        rule: `wildcard egress is not allowed ('${host}')`,
        fix: `Name each host instead of '${host}'. ${text}`,
      },
    ];
  });
  const commands = permissions.commands.flatMap((command, index): Violation[] => {
    if (command !== '*' || rules.named.commands.includes('*')) return [];
    const text = remedySentence(explainDenial({ kind: 'command', command: 'git' }));
    return [
      {
        path: `permissions.commands[${index}]`,
        asked: command,
        allowed: 'programs, each named',
        by: 'built-in rule',
        rule: "the wildcard '*' is not allowed among the commands",
        fix: `Name each program instead of '*'. ${text}`,
      },
    ];
  });
  return [...hosts, ...commands];
}
