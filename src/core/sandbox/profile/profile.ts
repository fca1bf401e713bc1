import { existsSync } from 'node:fs';
import type { SandboxRequest } from '../sandbox.ts';
import type { SeccompRules } from '../seccomp/filter.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { isBelow, layMounts, type Mount } from './mounts.ts';
import { executablePaths, runtimePaths } from './programs.ts';
import { type SystemEntry, systemEntries } from './system-folders.ts';

/** What a level comes to (contract §9), before a backend turns it into its own means. */
export interface Profile {
  /** `listed`: nothing but the base system and the mounts is there. `all`: everything but what is hidden. */
  sees: 'listed' | 'all';
  system: readonly SystemEntry[];
  mounts: readonly Mount[];
  /** Files and folders that may be executed; null is any. */
  executable: readonly string[] | null;
  seccomp: SeccompRules;
}

/** The processor of this machine, if the filter knows its numbers. */
export function architecture(): Architecture | undefined {
  return process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined;
}

/**
 * What a tool of this level is given: `minimal` and `standard` what is listed, `privileged` the machine as its user sees it, without
 * ACOR's own folders.
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
  const own = [toolDir, ...libraries, ...runtimePaths(request)]
    .filter((path) => existsSync(path))
    .map(mount('read'));
  const granted = grants.map((grant) => ({ ...grant, isGrant: true }));
  const wanted = [...base, ...own, ...granted, ...hidden.map(mount('empty')), ...run];
  // What lies behind a link of the root, such as /bin, is part of the folder that it leads to.
  const isBehindLink = ({ path }: Mount) =>
    system.some((entry) => entry.link !== null && isBelow(path, entry.path));
  const mounts = layMounts(wanted.filter((each) => !isBehindLink(each)));
  return {
    sees: isPrivileged ? 'all' : 'listed',
    system,
    mounts: mounts.filter(({ path }) => path !== '/' && !system.some((entry) => entry.path === path)),
    executable: isPrivileged ? null : executablePaths(request),
    seccomp: {
      architecture: architecture() ?? 'x64',
      internet: true,
      kind: isPrivileged ? 'small' : 'full',
    },
  };
}
