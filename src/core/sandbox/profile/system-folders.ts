import { lstatSync, readlinkSync } from 'node:fs';
import type { SandboxRequest } from '../sandbox.ts';

/** The base system: programs and libraries. On most systems some of these are links into /usr. */
const BASE = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** Files in /etc that programs commonly read and that do not identify the machine or its users. */
const ETC = [
  ...['/etc/ld.so.cache', '/etc/ld-musl-x86_64.path', '/etc/ld-musl-aarch64.path', '/etc/alternatives'],
  ...['/etc/nsswitch.conf', '/etc/localtime'],
];

/** Files that only network programs read. */
const ETC_FOR_NETWORK = [
  ...['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/ssl/cert.pem', '/etc/pki/tls', '/etc/pki/ca-trust'],
  ...['/etc/ca-certificates', '/etc/crypto-policies', '/etc/protocols', '/etc/services'],
];

/** A part of this machine's base system: a folder or file, or a link with its target. */
export interface SystemEntry {
  path: string;
  link: string | null;
}

/** The existing parts of the base system, for a tool with or without a network. */
export function systemEntries(network: SandboxRequest['network']): SystemEntry[] {
  return [...BASE, ...ETC, ...(network === 'none' ? [] : ETC_FOR_NETWORK)].flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    // Only the folders of the root stay links; a link in /etc is replaced by its target.
    const link = stats.isSymbolicLink() && BASE.includes(path) ? readlinkSync(path) : null;
    return { path, link };
  });
}
