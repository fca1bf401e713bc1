import { domainToASCII } from 'node:url';
import { canonicalAddress } from './address.ts';

/** A host in canonical form for decisions: lower case, punycode, no trailing dot. */
export type Host = { kind: 'name'; name: string } | { kind: 'address'; address: string };

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_NAME_LENGTH = 253;

/**
 * Parses a host. Undefined for any text that this check and a resolver could read differently: a NUL byte, a user name,
 * a trailing dot, an address in decimal, octal or hex notation, a zone.
 */
export function readHost(text: string): Host | undefined {
  if (text.startsWith('[')) {
    if (!text.endsWith(']') || !text.includes(':')) return undefined;
    return asAddress(text.slice(1, -1));
  }
  if (text.includes(':')) return undefined;
  const isAscii = /^[!-~]+$/.test(text);
  // Resolvers differ in how they read these characters.
  if (!isAscii && !/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return undefined;
  const name = isAscii ? text.toLowerCase() : domainToASCII(text);
  // Some standard libraries read a last label of digits as a number, and the number as an address.
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(last)) return isAscii ? asAddress(name) : undefined;
  const isName = name.length <= MAX_NAME_LENGTH && name.split('.').every((label) => LABEL.test(label));
  return isName ? { kind: 'name', name } : undefined;
}

/** Parses a decimal port without a sign or leading zeros. */
function readPort(text: string): number | undefined {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port > 0 && port <= 65_535 ? port : undefined;
}

/** Parses `host:port`. */
export function readHostAndPort(text: string): { host: Host; port: number } | undefined {
  const colon = text.lastIndexOf(':');
  const host = readHost(text.slice(0, colon));
  const port = readPort(text.slice(colon + 1));
  return host === undefined || port === undefined ? undefined : { host, port };
}

/** Without brackets, for resolvers and sockets. */
export function nameOf(host: Host): string {
  return host.kind === 'name' ? host.name : host.address;
}

/** In the notation of a manifest. */
export function withPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function asAddress(text: string): Host | undefined {
  const address = canonicalAddress(text);
  return address === undefined ? undefined : { kind: 'address', address };
}

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
