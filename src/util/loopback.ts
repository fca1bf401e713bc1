import type { IncomingMessage } from 'node:http';
import { areEqualDigests, newSha256 } from './sha256.ts';

/** The names of this machine for itself. A page of another name that resolves to it is an attack (DNS rebinding). */
const OWN_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a `Host` header names this machine. */
export function isOwnHost(host: string | undefined): boolean {
  return host !== undefined && /^[\w.[\]:-]+$/.test(host) && isOwnUrl(`http://${host}`);
}

/** Headers that say for whom a request is, and of whom. */
const ONCE: readonly string[] = ['host', 'authorization', 'origin'];

/**
 * Why a request can be read in two ways; undefined when it cannot. Of two such headers, or of a target with its own host, a proxy and this
 * server might each believe another one.
 */
export function ambiguity({
  rawHeaders,
  url = '',
}: Pick<IncomingMessage, 'rawHeaders' | 'url'>): string | undefined {
  if (!url.startsWith('/') || url.startsWith('//')) return 'the target of the request must be a path';
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = ONCE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  return twice && `the header ${twice} must be given once`;
}

/** Whether an `Origin` header is that of a page of this machine. Programs other than browsers send none. */
export function isOwnOrigin(origin: string | undefined): boolean {
  return origin === undefined || isOwnUrl(origin);
}

function isOwnUrl(url: string): boolean {
  return URL.canParse(url) && OWN_NAMES.includes(new URL(url).hostname);
}

/** Compares digests, so that timing reveals neither the length of the secret nor its beginning. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => newSha256().update(text).digest();
  return areEqualDigests(digest(given), digest(expected));
}

/** The token of an `Authorization: Bearer` header. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}
