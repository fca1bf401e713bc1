import { existsSync } from 'node:fs';
import type { SandboxRequest } from '../sandbox.ts';
import type { SeccompRules } from '../seccomp/filter.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { isBelow, layMounts, type Mount } from './mounts.ts';
import { executablePaths, runtimePaths } from './programs.ts';
import { type SystemEntry, systemEntries } from './system-folders.ts';

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
  const own = [toolDir, ...libraries, ...runtimePaths(request)]
    .filter((path) => existsSync(path))
    .map(mount('read'));
  const granted = grants.map((grant) => ({ ...grant, isGrant: true }));
  const wanted = [...base, ...own, ...granted, ...hidden.map(mount('empty')), ...run];
  // The target of a root link such as /bin is already part of another folder.
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
