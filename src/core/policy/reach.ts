/** The values of variables in paths, and how links are resolved. All paths are absolute. */
export interface Places {
  project: string;
  workspace: string;
  toolDir: string;
  home: string;
  /** Resolves links; parts that do not exist stay as written. */
  realPath(path: string): string;
}

/**
 * The folder or file of a path in a manifest or policy: variables are replaced, and the text from the first wildcard on
 * is cut off. A relative path starts at the project.
 */
export function rootOf(path: string, places: Places): string {
  const named = path
    .replace(/^\$(?:\{PROJECT\}|PROJECT(?=\/|$))/, places.project)
    .replace(/^\$(?:\{TOOL_DIR\}|TOOL_DIR(?=\/|$))/, places.toolDir)
    .replace(/^(?:\$\{WORKSPACE\}|\$WORKSPACE(?=\/|$)|\.(?=\/|$))/, places.workspace)
    .replace(/^~(?=\/|$)/, places.home);
  const segments = (named.startsWith('/') ? named : `${places.project}/${named}`).split('/');
  const wild = segments.findIndex((segment) => /[*?[{]/.test(segment));
  return normal(wild === -1 ? segments : segments.slice(0, wild));
}

/** Whether a path is inside a folder, both as written and with every link resolved. */
export function isWithin(path: string, folder: string, { realPath }: Places): boolean {
  return contains(folder, path, realPath) && contains(folder, realPath(path), realPath);
}

function contains(folder: string, path: string, realPath: Places['realPath']): boolean {
  return [folder, realPath(folder)].some(
    (each) => each === '/' || path === each || path.startsWith(`${each}/`),
  );
}

/** `..` is resolved textually; the effect of links shows when they are resolved. */
function normal(segments: readonly string[]): string {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

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
