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
  return [asAscii(text.slice(0, colon)), text.slice(colon + 1)];
}

/** In lower case and punycode, in which names are looked up: a name in its own script and its punycode are one host. */
function asAscii(host: string): string {
  if (/^[!-~]*$/.test(host)) return host.toLowerCase();
  const wildcard = host.startsWith('*.') ? '*.' : '';
  const url = `http://${host.slice(wildcard.length)}/`;
  // What is no host is equal to itself alone.
  return URL.canParse(url) ? `${wildcard}${new URL(url).hostname}` : host;
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host);
}
