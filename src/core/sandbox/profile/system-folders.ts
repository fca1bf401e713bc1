import { lstatSync, readlinkSync } from 'node:fs';
import type { SandboxRequest } from '../sandbox.ts';

/** The base system: programs and libraries. Some are links into /usr on most systems, and folders on others. */
const BASE = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** What programs commonly read of /etc, and nothing that identifies the machine or its users. */
const ETC = [
  ...['/etc/ld.so.cache', '/etc/ld-musl-x86_64.path', '/etc/ld-musl-aarch64.path', '/etc/alternatives'],
  ...['/etc/nsswitch.conf', '/etc/localtime'],
];

/** What only those read who talk to others. */
const ETC_FOR_NETWORK = [
  ...['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/ssl/cert.pem', '/etc/pki/tls', '/etc/pki/ca-trust'],
  ...['/etc/ca-certificates', '/etc/crypto-policies', '/etc/protocols', '/etc/services'],
];

/** A part of the base system as it is here: a folder or file, or a link with its target. */
export interface SystemEntry {
  path: string;
  link: string | null;
}

/** What of the base system is there, for a tool with or without a network. */
export function systemEntries(network: SandboxRequest['network']): SystemEntry[] {
  return [...BASE, ...ETC, ...(network === 'none' ? [] : ETC_FOR_NETWORK)].flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    // Only the folders of the root are linked; in /etc what a link leads to is meant.
    const link = stats.isSymbolicLink() && BASE.includes(path) ? readlinkSync(path) : null;
    return { path, link };
  });
}
