import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BASE_UTILITIES } from '../profile/base-utilities.ts';
import { isBelow, type Mount } from '../profile/mounts.ts';
import type { Profile } from '../profile/profile.ts';
import type { SandboxRequest } from '../sandbox.ts';
import type { BubblewrapFeatures } from './bubblewrap-arguments.ts';

/** The name of the run's folder in a sandbox that waits. No run id looks like this. */
export const STANDBY_NAME = 'standby';

/** Whether a sandbox that is made of its plan alone can be made before the run: its only mounts are the base system, grants and the run's own folders. */
export function canWait(request: SandboxRequest, { sees, mounts }: Profile): boolean {
  const { folders } = request;
  if (sees === 'all') return false;
  // In a folder that the tool may write, the run's folders are no mounts of their own.
  const own = [...folders.writable, ...folders.readable];
  return own.every((path) => mounts.some((mount) => mount.path === path)) && isReal(runsOf(request));
}

/** Where the base utilities are, or links to them. */
const UTILITY_FOLDERS = ['/usr/bin', '/bin', '/etc/alternatives'];
const UTILITIES: ReadonlySet<string> = new Set(BASE_UTILITIES);

/**
 * Equal for two runs whose sandboxes are the same but for the run's folders. A source is named by its inode, because a mount and a Landlock
 * rule keep what was there: a file that was replaced, a program that was installed, or a new mount of the machine makes another key.
 */
export function keyOf(
  request: SandboxRequest,
  { profile, features }: { profile: Profile; features: BubblewrapFeatures },
): string {
  const dir = folderOf(request);
  const mounts = profile.mounts.map(({ path, access, isGrant }) =>
    isBelow(path, dir)
      ? [path.slice(dir.length), access]
      : [path, access, isGrant === true, access === 'empty' ? '' : identityOf(path)],
  );
  const system = profile.system.map(({ path, link }) => [path, link ?? identityOf(path)]);
  const machine = readFileSync('/proc/self/mountinfo', 'utf8');
  return JSON.stringify([
    ...[runsOf(request), mounts, system, features, profile.seccomp],
    ...[request.network, request.limits, machine, executablesOf(profile)],
  ]);
}

/** The base utilities, of which there are many, are replaced by renaming, which changes their folder. */
function executablesOf({ executable }: Profile) {
  if (executable === null) return null;
  const programs = executable.map((path) => [path, UTILITIES.has(basename(path)) ? '' : identityOf(path)]);
  const folders = UTILITY_FOLDERS.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs);
  return [programs, folders];
}

/** The profile with `folder` instead of the run's folder, below another name. */
export function profileForStandby(request: SandboxRequest, profile: Profile, folder: string): Profile {
  const dir = folderOf(request);
  const runs = runsOf(request);
  const mounts = profile.mounts.map((mount): Mount => {
    if (!isBelow(mount.path, dir)) return mount;
    const within = mount.path.slice(dir.length);
    return { ...mount, path: join(runs, STANDBY_NAME, within), from: placeIn(folder, within) };
  });
  // The launcher renames the folder, for which the folder above must be a mount of its own.
  const first = mounts.findIndex(({ path }) => isBelow(path, runs));
  const isHidden = mounts.some(({ path }) => path === runs);
  return {
    ...profile,
    mounts: isHidden ? mounts : mounts.toSpliced(first, 0, { path: runs, access: 'empty' }),
  };
}

/** Where a sandbox that waits has what will be at this place within the run's folder: without the two folders that only hold another one. */
export function placeIn(folder: string, within: string): string {
  return join(folder, within.replace(/^\/?(logs|control)\//, '$1-'));
}

function folderOf({ folders }: SandboxRequest): string {
  return dirname(folders.work);
}

function runsOf(request: SandboxRequest): string {
  return dirname(folderOf(request));
}

/** Empty for what is not there or cannot be reached. */
function identityOf(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.dev}:${stats.ino}`;
  } catch {
    return '';
  }
}

function isReal(path: string): boolean {
  try {
    return realpathSync(path) === path;
  } catch {
    return false;
  }
}
