import { readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { onceASecond } from '../../../util/once-a-second.ts';

/** The cgroup controllers that can limit all processes of a tool together. */
export type Controller = 'memory' | 'pids';

/** A folder in which this process may create cgroups. */
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
  /** The owner of a folder, or undefined when it does not exist. */
  ownerOf(folder: string): number | undefined;
  /** The controllers of a version 2 cgroup: its `cgroup.controllers`. */
  controllersOf(folder: string): string;
}

/** The parent cgroup that ACOR creates, so that its cgroups are recognisable. */
const PARENT = 'acor';
/** Supervisors move here, because a version 2 cgroup contains either processes or other cgroups. */
export const SUPERVISORS = 'supervisors';

/**
 * The places where ACOR may create cgroups: at the root of a hierarchy, for root, and in a cgroup that is delegated to
 * this user (such as `systemd-run --user -p Delegate=yes`). A cgroup that another program chose for this process stays
 * unchanged, and no tool leaves it.
 */
export function groupPlaces(facts?: GroupFacts): readonly GroupPlace[] {
  return facts === undefined ? placesHere() : placesIn(facts);
}

const placesHere = onceASecond(() => placesIn(factsHere()));

function placesIn(facts: GroupFacts): GroupPlace[] {
  const own = facts.own.split('\n').map(ownGroup);
  return mountsOf(facts.mounts).flatMap(({ root, at, version, controllers }) => {
    const line = own.find(
      (each) =>
        each !== undefined &&
        (version === 2 ? each.controllers === '' : each.controllers.split(',').includes(controllers[0]!)),
    );
    if (!line) return [];
    const within = withinMount(line.group, root);
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

/**
 * The controllers worth their cost. A sandbox already counts processes per run, so with a sandbox only the memory
 * controller is used.
 */
export function usefulGroups(tier: number): readonly GroupPlace[] {
  if (process.platform !== 'linux') return [];
  const places = groupPlaces();
  return tier === 3 || places.some(({ controllers }) => controllers.includes('memory')) ? places : [];
}

/** A line of /proc/self/cgroup: `number:controllers:group`. */
function ownGroup(line: string): { controllers: string; group: string } | undefined {
  const controllersAt = line.indexOf(':') + 1;
  const groupAt = line.indexOf(':', controllersAt) + 1;
  if (groupAt === 0) return undefined;
  return { controllers: line.slice(controllersAt, groupAt - 1), group: line.slice(groupAt) };
}

interface GroupMount {
  root: string;
  at: string;
  version: 1 | 2;
  controllers: Controller[];
}

/** One line per mount: number, parent, device, root, place, options, … - kind, source, options. */
function mountsOf(text: string): GroupMount[] {
  return text.split('\n').flatMap((line): GroupMount[] => {
    if (!line.includes(' - cgroup')) return [];
    const [left, right] = line.split(' - ');
    const [, , , root, at, options] = (left ?? '').split(' ');
    const [kind, , inner = ''] = (right ?? '').split(' ');
    if (!root || !at || !options?.split(',').includes('rw')) return [];
    if (kind === 'cgroup2') return [{ root, at, version: 2, controllers: ['memory', 'pids'] }];
    const controllers = (['memory', 'pids'] as const).filter((each) => inner.split(',').includes(each));
    return kind === 'cgroup' && controllers.length > 0 ? [{ root, at, version: 1, controllers }] : [];
  });
}

/** The path of a cgroup below the mount, without the part that an outer supervisor of ACOR added. */
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
