import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { BASE_FOLDERS } from '../../../util/base-folders.ts';
import type { SandboxRequest } from '../sandbox.ts';
import type { SeccompRules } from '../seccomp/filter.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { isBelow, layMounts, type Mount, realPaths } from './mounts.ts';
import { commandPaths, executablePaths, programsOf } from './programs.ts';

/** The meaning of a level (contract §9), independent of the backend. */
export interface Profile {
  /** `listed`: only the base system and the mounts exist. `all`: everything except hidden folders. */
  sees: 'listed' | 'all';
  system: readonly SystemEntry[];
  mounts: readonly Mount[];
  /** Executable files and folders; null means any. */
  executable: readonly string[] | null;
  seccomp: SeccompRules;
}

/** The processor of this machine, if the filter has its system call numbers. */
export function architecture(): Architecture | undefined {
  return process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined;
}

/**
 * The profile of a level: `minimal` and `standard` get what is listed; `privileged` gets the machine as its user sees
 * it, without ACOR's own folders.
 */
export function profileOf(
  request: SandboxRequest,
  system: readonly SystemEntry[] = systemEntries(request.network),
): Profile {
  const { folders, toolDir, libraries, grants, hidden, level } = request;
  const isPrivileged = level === 'privileged';
  const mount = (access: Mount['access']) => (path: string) => ({ path, access });
  const run = [...folders.writable.map(mount('write')), ...folders.readable.map(mount('read'))];
  const base = isPrivileged
    ? [mount('read')('/')]
    : system.filter(({ link }) => link === null).map(({ path }) => mount('read')(path));
  const realOf = realPaths();
  const programs = programsOf(request, realOf);
  const own = [toolDir, ...libraries, ...programs.folders, ...commandPaths(request, realOf)]
    .filter((path) => existsSync(path))
    .map(mount('read'));
  const granted = grants.map((grant) => ({ ...grant, isGrant: true }));
  const wanted = [...base, ...own, ...granted, ...hidden.map(mount('empty')), ...run];
  // The target of a root link such as /bin is already part of another folder.
  const isBehindLink = ({ path }: Mount) =>
    system.some((entry) => entry.link !== null && isBelow(path, entry.path));
  const mounts = layMounts(
    wanted.filter((each) => !isBehindLink(each)),
    realOf,
  );
  return {
    sees: isPrivileged ? 'all' : 'listed',
    system,
    mounts: mounts.filter(({ path }) => path !== '/' && !system.some((entry) => entry.path === path)),
    executable: isPrivileged || request.traceTo !== undefined ? null : executablePaths(request, programs),
    seccomp: {
      architecture: architecture() ?? 'x64',
      internet: true,
      isShared: false,
      kind: isPrivileged ? 'small' : 'full',
    },
  };
}

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

/** Distributions keep settings there without which Java does not start. */
function javaSettings(): string[] {
  if (lstatSync('/etc/alternatives/java', { throwIfNoEntry: false }) === undefined) return [];
  const names = readdirSync('/etc').filter((name) => /^java(-\d+-openjdk)?$/.test(name));
  return names.map((name) => join('/etc', name));
}

/** A part of this machine's base system: a folder or file, or a link with its target. */
interface SystemEntry {
  path: string;
  link: string | null;
}

/** The existing parts of the base system, for a tool with or without a network. */
export function systemEntries(network: SandboxRequest['network']): SystemEntry[] {
  const own = [...ETC, ...javaSettings(), ...(network === 'none' ? [] : ETC_FOR_NETWORK)];
  return [...BASE_FOLDERS, ...own].flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    // Only the folders of the root stay links; a link in /etc is replaced by its target.
    const link = stats.isSymbolicLink() && BASE_FOLDERS.includes(path) ? readlinkSync(path) : null;
    return { path, link };
  });
}

/**
 * A profile as an allowlist, for a mechanism that cannot exclude a subfolder: a folder with a hidden subfolder is
 * replaced by the other entries of the folder. An entry that is created later in such a folder is not allowed.
 */
export function allowedPaths({ sees, system, mounts }: Profile): Mount[] {
  const hidden = mounts.filter(({ access }) => access === 'empty');
  const base: Mount[] =
    sees === 'all'
      ? apart('/', hidden).map((path) => ({ path, access: 'write' }))
      : system.filter(({ link }) => link === null).map(({ path }) => ({ path, access: 'read' }));
  return [
    ...base,
    ...mounts.flatMap((mount) => {
      if (mount.access === 'empty') return [];
      return apart(mount.path, hidden).map((path) => ({ ...mount, path }));
    }),
  ];
}

function apart(folder: string, hidden: readonly Mount[]): string[] {
  if (hidden.some(({ path }) => path === folder)) return [];
  if (!hidden.some(({ path }) => isBelow(path, folder))) return [folder];
  return readdirSync(folder).flatMap((name) => apart(join(folder, name), hidden));
}
