/**
 * Whether a pattern of the policy (`host:port`; `*` is any host, any subdomain or any port) covers a request of a
 * manifest.
 */
export function coversHost(pattern: string, asked: string): boolean {
  if (pattern === '*') return true;
  if (asked === '*') return pattern === '*:*';
  const [host, port] = parts(pattern);
  const [askedHost, askedPort] = parts(asked);
  if (port !== '*' && port !== askedPort) return false;
  if (host === '*' || host === askedHost) return true;
  // An address has no subdomains, so `*.` never matches its end.
  return host.startsWith('*.') && askedHost.endsWith(host.slice(1)) && !isAddress(askedHost);
}

/** Whether it matches more than one host or port. */
export function isWildcard(host: string): boolean {
  return host.includes('*');
}

function parts(text: string): [host: string, port: string] {
  const colon = text.lastIndexOf(':');
  return [asAscii(text.slice(0, colon)), text.slice(colon + 1)];
}

/** Canonical form: lower case and punycode, so that an internationalised name and its punycode are one host. */
function asAscii(host: string): string {
  if (/^[!-~]*$/.test(host)) return host.toLowerCase();
  const wildcard = host.startsWith('*.') ? '*.' : '';
  const url = `http://${host.slice(wildcard.length)}/`;
  // A text that is not a host is only equal to itself.
  return URL.canParse(url) ? `${wildcard}${new URL(url).hostname}` : host;
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host);
}
