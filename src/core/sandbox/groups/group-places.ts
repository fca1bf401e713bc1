import { readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';

/** What the kernel can limit for a group of processes as a whole (cgroups). */
export type Controller = 'memory' | 'pids';

/** A folder in which this process may make groups of its own. */
export interface GroupPlace {
  version: 1 | 2;
  controllers: readonly Controller[];
  folder: string;
}

/** What the kernel reports about a process's cgroups. */
export interface GroupFacts {
  /** /proc/self/mountinfo */
  mounts: string;
  /** /proc/self/cgroup */
  own: string;
  uid: number;
  /** The owner of a folder, or undefined when it is not there. */
  ownerOf(folder: string): number | undefined;
  /** What a group of version 2 can limit: its `cgroup.controllers`. */
  controllersOf(folder: string): string;
}

/** Made by ACOR: its groups lie in it, so that they can be recognised. */
const PARENT = 'acor';
/** Supervisors move here where a group may hold either processes or other groups (version 2). */
export const SUPERVISORS = 'supervisors';

/**
 * Where groups can be had. A group into which another program has put this process is left as it is, and no tool leaves it: groups are only made at
 * the root of a hierarchy, for root, and in a group that has been handed to this user (such as one of `systemd-run --user -p Delegate=yes`).
 */
export function groupPlaces(facts: GroupFacts = factsHere()): GroupPlace[] {
  const own = facts.own.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  return mountsOf(facts.mounts).flatMap(({ root, at, version, controllers }) => {
    const line = own.find(
      (each) =>
        each !== null && (version === 2 ? each[1] === '' : each[1]!.split(',').includes(controllers[0]!)),
    );
    if (!line) return [];
    const within = withinMount(line[2]!, root);
    if (within === undefined) return [];
    const parent = posix.join(at, within);
    const isRootOfAll = within === '/' && facts.uid === 0;
    const isDelegated = facts.uid !== 0 && facts.ownerOf(parent) === facts.uid;
    const isCapable = version === 1 || facts.controllersOf(parent).split(/\s+/).includes('memory');
    return (isRootOfAll || isDelegated) && isCapable
      ? [{ version, controllers, folder: posix.join(parent, PARENT) }]
      : [];
  });
}

/** Those worth their cost: a sandbox counts processes for each run by itself, so that there a group is made for the sake of the memory alone. */
export function usefulGroups(tier: number): GroupPlace[] {
  if (process.platform !== 'linux') return [];
  const places = groupPlaces();
  return tier === 3 || places.some(({ controllers }) => controllers.includes('memory')) ? places : [];
}

interface GroupMount {
  root: string;
  at: string;
  version: 1 | 2;
  controllers: Controller[];
}

/** One line a mount: number, parent, device, root, place, options, … - kind, source, options. */
function mountsOf(text: string): GroupMount[] {
  return text.split('\n').flatMap((line): GroupMount[] => {
    const [left, right] = line.split(' - ');
    const [, , , root, at, options] = (left ?? '').split(' ');
    const [kind, , inner = ''] = (right ?? '').split(' ');
    if (!root || !at || !options?.split(',').includes('rw')) return [];
    if (kind === 'cgroup2') return [{ root, at, version: 2, controllers: ['memory', 'pids'] }];
    const controllers = (['memory', 'pids'] as const).filter((each) => inner.split(',').includes(each));
    return kind === 'cgroup' && controllers.length > 0 ? [{ root, at, version: 1, controllers }] : [];
  });
}

/** The path of a group below the mount; without the part that is ACOR's own, of a supervisor that another one has started. */
function withinMount(group: string, root: string): string | undefined {
  const below =
    root === '/'
      ? group
      : group === root
        ? '/'
        : group.startsWith(`${root}/`)
          ? group.slice(root.length)
          : undefined;
  const own = `/${PARENT}/${SUPERVISORS}`;
  return below?.endsWith(own) ? below.slice(0, -own.length) || '/' : below;
}

function factsHere(): GroupFacts {
  return {
    mounts: readText('/proc/self/mountinfo'),
    own: readText('/proc/self/cgroup'),
    uid: process.geteuid?.() ?? -1,
    ownerOf: (folder) => statSync(folder, { throwIfNoEntry: false })?.uid,
    controllersOf: (folder) => readText(posix.join(folder, 'cgroup.controllers')),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
