import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorMessage } from '../../../util/error-code.ts';
import type { EgressLayout } from '../egress/layout.ts';
import type { TrustFile } from '../egress/trust-file.ts';
import { enclosing, grantChanged, type Mount, parentsOf } from '../profile/mounts.ts';
import type { Profile } from '../profile/profile.ts';
import type { SandboxRequest, SecretFiles } from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';

/** Linux's O_PATH: the descriptor only names the object. Node has no constant for it. */
const O_PATH = 0o10000000;

const MB = 1_000_000;
const DEFAULT_TMP_MB = 64;
const SHARED_MEMORY_BYTES = 16 * 1024 ** 2;
const MAX_GRANTS = 200;
/** In a namespace of users the tool owns an empty folder, and could write there. */
const EMPTY_BYTES = 65_536;

/** The features of bubblewrap on this machine, which `probe` found. */
export interface BubblewrapFeatures {
  canBindDescriptors: boolean;
  canDisableNamespaces: boolean;
  /** Without it a tool has no /proc: an enclosing container masks parts of its own. */
  canMountProc: boolean;
}

/** The result of the probe; `landlock` is the kernel's Landlock version, or 0. */
export type Features = BubblewrapFeatures & { landlock: number };

/**
 * The environment of bubblewrap itself. A variable of the tool could make bubblewrap run other code outside of the
 * sandbox.
 */
export const OWN_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/** The contents and the limits of the sandbox. */
export interface BubblewrapOrder {
  profile: Profile;
  features: BubblewrapFeatures;
  network: SandboxRequest['network'];
  /** Name resolution for a `listed` network, in which bubblewrap is started. */
  names: EgressLayout | null;
  /** The files of certificates that the tool trusts, when they are not the system's alone. */
  trust: readonly TrustFile[];
  /** Root creates no user namespace: the tool gets a separate uid instead. */
  asRoot: boolean;
  ids: { uid: number; gid: number };
  scratch: string;
  tmpMb: number | undefined;
  /** With `areGivenAway`, the launcher assigns the files to the tool's user and makes them read-only. */
  secrets: (SecretFiles & { areGivenAway: boolean }) | undefined;
}

/**
 * The options of one start, without the command, and their descriptors. `firstFd` is the number of the first
 * descriptor.
 */
export function bubblewrapArguments(
  order: BubblewrapOrder,
  firstFd: number,
): { args: string[]; fds: number[] } {
  const { profile } = order;
  const fds: number[] = [];
  const give = (fd: number) => {
    fds.push(fd);
    return String(firstFd + fds.length - 1);
  };
  try {
    const args = [
      ...namespaces(order),
      ...(profile.sees === 'all' ? ['--bind', '/', '/'] : baseSystem(profile)),
      ...kernelFolders(order),
      ...(profile.sees === 'all' ? [] : temporaryFolders(profile.mounts, order.tmpMb)),
      ...(profile.sees === 'all' ? [] : accounts(order, give)),
      ...mountPoints(profile),
      ...profile.mounts.flatMap((mount) => bind(mount, order, give)),
      ...secretFiles(order, give),
      ...(profile.sees === 'all' ? [] : ['--remount-ro', '/']),
    ];
    return { args, fds };
  } catch (error) {
    for (const fd of fds) closeSync(fd);
    throw error;
  }
}

function namespaces({ asRoot, network, features, ids, secrets }: BubblewrapOrder): string[] {
  const user = asRoot
    ? []
    : ['--unshare-user', ...(features.canDisableNamespaces ? ['--disable-userns'] : [])];
  // Every process in a listed network has uid 0 of its namespace.
  const asOneself = asRoot || network !== 'listed' ? [] : ['--uid', `${ids.uid}`, '--gid', `${ids.gid}`];
  // The launcher drops these capabilities before the tool starts, and needs them until then.
  const forLauncher = [
    ...['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'],
    // Only the tool's user may be able to enter a granted folder above the secrets.
    ...(secrets?.areGivenAway ? ['CAP_CHOWN', 'CAP_SYS_ADMIN', 'CAP_DAC_READ_SEARCH'] : []),
  ].flatMap((name) => ['--cap-add', name]);
  return [
    ...user,
    ...asOneself,
    ...['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network === 'none' ? ['--unshare-net'] : []),
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--hostname', 'sandbox', '--cap-drop', 'ALL'],
    ...(asRoot ? forLauncher : []),
  ];
}

function baseSystem({ system }: Profile): string[] {
  const folders = ['/etc', ...new Set(system.flatMap(({ path }) => parentsOf(path)))].filter(
    (path) => !system.some((entry) => entry.path === path),
  );
  return [
    ...[...new Set(folders)].flatMap((path) => ['--perms', '0555', '--dir', path]),
    ...system.flatMap(({ path, link }) =>
      link === null ? ['--ro-bind-try', path, path] : ['--symlink', link, path],
    ),
  ];
}

function kernelFolders({ features, asRoot, ids }: BubblewrapOrder): string[] {
  // The files below /proc/sys belong to root in every mount, and some of them allow a process to become root outside.
  const cover = [
    '--ro-bind',
    '/proc/sys',
    '/proc/sys',
    '--ro-bind-try',
    '/proc/sysrq-trigger',
    '/proc/sysrq-trigger',
  ];
  const proc = features.canMountProc
    ? ['--proc', '/proc', ...(ids.uid === 0 || asRoot ? cover : [])]
    : ['--tmpfs', '/proc'];
  const sharedMemory = ['--size', String(SHARED_MEMORY_BYTES), '--perms', '1777', '--tmpfs', '/dev/shm'];
  return [...proc, '--dev', '/dev', ...sharedMemory];
}

function temporaryFolders(mounts: readonly Mount[], tmpMb = DEFAULT_TMP_MB): string[] {
  if (mounts.some(({ path }) => path === '/tmp')) return [];
  return ['--size', String(Math.ceil(tmpMb * MB)), '--perms', '1777', '--tmpfs', '/tmp'];
}

/** Synthetic user names and host name: nothing of the machine's own. */
function accounts(
  { ids: { uid, gid }, scratch, names, trust }: BubblewrapOrder,
  give: (fd: number) => string,
): string[] {
  const user = uid === 0 ? '' : `tool:x:${uid}:${gid}::/tmp:/bin/sh\n`;
  const group = gid === 0 ? '' : `tool:x:${gid}:\n`;
  const files = {
    '/etc/passwd': `root:x:0:0::/:/bin/sh\n${user}nobody:x:65534:65534::/:/bin/false\n`,
    '/etc/group': `root:x:0:\n${group}nogroup:x:65534:\n`,
    '/etc/hosts': names?.hostsFile ?? '127.0.0.1 localhost sandbox\n::1 localhost\n',
    ...(names && { '/etc/resolv.conf': names.resolverFile }),
  };
  const put = (option: string, path: string, content: string | Uint8Array) => [
    ...['--perms', '0444', option, give(scratchFile(scratch, content)), path],
  ];
  return [
    ...Object.entries(files).flatMap(([path, content]) => put('--file', path, content)),
    // These may be in a mounted folder, in which no file can be made.
    ...trust.flatMap(({ path, content }) => put('--ro-bind-data', path, content)),
  ];
}

/** A tmpfs over the empty folder in the run: its content is never in a file of the machine. */
function secretFiles({ secrets, profile }: BubblewrapOrder, give: (fd: number) => string): string[] {
  if (secrets === undefined) return [];
  const { folder, files, areGivenAway } = secrets;
  if (enclosing(folder, profile.mounts)?.access === 'write')
    throw new Error(`Internal: ${folder} lies where the tool may write`);
  return [
    ...['--perms', '0700', '--tmpfs', folder],
    ...files.flatMap(({ name, open }) => ['--perms', '0600', '--file', give(open()), join(folder, name)]),
    ...(areGivenAway ? [] : ['--remount-ro', folder]),
  ];
}

/** The missing parent folders of a mount. Without this, bubblewrap creates them for root alone. */
function mountPoints({ mounts, sees }: Profile): string[] {
  if (sees === 'all') return [];
  const folders = new Set<string>();
  for (const { path } of mounts) {
    const outer = enclosing(path, mounts);
    if (outer !== undefined && outer.access !== 'empty') continue;
    for (const folder of parentsOf(path)) if (!isThere(folder, mounts)) folders.add(folder);
  }
  // Folders inside a hidden folder are created after that is mounted.
  return [...folders]
    .filter((folder) => enclosing(folder, mounts) === undefined)
    .sort()
    .flatMap((folder) => ['--perms', '0555', '--dir', folder]);
}

function isThere(folder: string, mounts: readonly Mount[]): boolean {
  return ['/tmp', '/proc', '/dev'].includes(folder) || mounts.some(({ path }) => path === folder);
}

function bind(mount: Mount, { features, profile }: BubblewrapOrder, give: (fd: number) => string): string[] {
  const { path, access, from } = mount;
  if (access === 'empty') {
    const inner = profile.mounts.filter((other) => enclosing(other.path, profile.mounts) === mount);
    const folders = new Set(
      inner.flatMap((other) => parentsOf(other.path).filter((each) => each.startsWith(`${path}/`))),
    );
    return [
      ...['--size', String(EMPTY_BYTES), '--perms', '0555', '--tmpfs', path],
      ...[...folders].sort().flatMap((folder) => ['--perms', '0555', '--dir', folder]),
    ];
  }
  const kind = access === 'write' ? '--bind' : '--ro-bind';
  if (!mount.isGrant || !features.canBindDescriptors) return [kind, from ?? path, path];
  const grants = profile.mounts.filter(({ isGrant }) => isGrant).length;
  if (grants > MAX_GRANTS) throw tooMany(grants);
  const fd = from === undefined ? openExactly(path) : openSync(from, O_PATH | constants.O_NOFOLLOW);
  return [`${kind}-fd`, give(fd), path];
}

/** Opens the object at a path and checks that no component of the path became a link. */
function openExactly(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    throw grantChanged(path, errorMessage(error));
  }
  if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw grantChanged(path, 'it leads elsewhere now');
}

function tooMany(count: number): AcorError {
  return new AcorError(
    'E_PERMISSION',
    `${count} paths are granted individually; at most ${MAX_GRANTS} are possible`,
    {
      hint: 'Grant the folder that contains them instead.',
    },
  );
}
