import { type Host, nameOf, readHost, readPort } from './host.ts';

/** An entry of `egress_allow`, or of the configured addresses. A null port means any port. */
export interface EgressRule {
  text: string;
  host: Host | { kind: 'any' } | { kind: 'below'; domain: string };
  port: number | null;
}

/** An entry with exactly one host and port, which needs no proxy. */
export type NamedRule = EgressRule & { host: Host; port: number };

/** Parses `host:port`, `*.domain:port`, `host:*`, or `*`. Undefined for an ambiguous text. */
export function readRule(text: string): EgressRule | undefined {
  if (text === '*') return { text, host: { kind: 'any' }, port: null };
  const colon = text.lastIndexOf(':');
  const hostText = text.slice(0, colon);
  const portText = text.slice(colon + 1);
  const port = portText === '*' ? null : readPort(portText);
  if (colon < 1 || port === undefined) return undefined;
  if (hostText === '*') return { text, host: { kind: 'any' }, port };
  const isBelow = hostText.startsWith('*.');
  const host = readHost(isBelow ? hostText.slice(2) : hostText);
  if (host === undefined) return undefined;
  if (!isBelow) return { text, host, port };
  return host.kind === 'name' ? { text, host: { kind: 'below', domain: host.name }, port } : undefined;
}

export function isNamed(rule: EgressRule): rule is NamedRule {
  return (rule.host.kind === 'name' || rule.host.kind === 'address') && rule.port !== null;
}

/**
 * Whether a rule allows a host and a port. `*.domain` matches every name below the domain, but not the domain itself.
 */
export function covers({ host: wanted, port: wantedPort }: EgressRule, host: Host, port: number): boolean {
  if (wantedPort !== null && wantedPort !== port) return false;
  return coversHost(wanted, host);
}

/** The same for any port. */
export function coversHost(wanted: EgressRule['host'], host: Host): boolean {
  switch (wanted.kind) {
    case 'any':
      return true;
    case 'below':
      return host.kind === 'name' && host.name.endsWith(`.${wanted.domain}`);
    default:
      return wanted.kind === host.kind && nameOf(wanted) === nameOf(host);
  }
}
