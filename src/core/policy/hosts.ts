/** Whether a pattern of the policy (`host:port`, `*` for any host, any subdomain or any port) covers what a manifest asks for. */
export function coversHost(pattern: string, asked: string): boolean {
  if (pattern === '*') return true;
  if (asked === '*') return pattern === '*:*';
  const [host, port] = parts(pattern);
  const [askedHost, askedPort] = parts(asked);
  if (port !== '*' && port !== askedPort) return false;
  if (host === '*' || host === askedHost) return true;
  // No subdomain, but the tail of an address, would be what an address ends with.
  return host.startsWith('*.') && askedHost.endsWith(host.slice(1)) && !isAddress(askedHost);
}

/** Whether it stands for more than one host or port. */
export function isWildcard(host: string): boolean {
  return host.includes('*');
}

function parts(text: string): [host: string, port: string] {
  const colon = text.lastIndexOf(':');
  return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1)];
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host);
}
