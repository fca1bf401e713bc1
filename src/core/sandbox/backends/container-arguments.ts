import { mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorMessage } from '../../../util/error-code.ts';
import { tasksFor } from '../profile/limits.ts';
import { enclosing, grantChanged, type Mount } from '../profile/mounts.ts';
import type { Profile } from '../profile/profile.ts';
import type { SandboxRequest } from '../sandbox.ts';

const MB = 1_000_000;
const DEFAULT_TMP_MB = 64;
const SHARED_MEMORY_BYTES = 16 * 1024 ** 2;

/** Engines set default limits, which fail on a machine that allows less. */
const LOWER_LIMITS = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096'];

/** The place of the launcher's orders in a container. */
export const ORDERS_FOLDER = '/.acor';

/** The features of the engine on this machine, which `probe` found. */
export interface ContainerFeatures {
  /** The kernel limits memory and processes of the whole container. */
  groups: boolean;
  /** A rootless engine maps the tool's uid to the user's. */
  keepsId: boolean;
  /** The engine's default limits exceed those of this machine. */
  lowersLimits: boolean;
  /** Inside a container the kernel can restrict which files are executable. */
  landlock: boolean;
}

export interface ContainerOrder {
  profile: Profile;
  features: ContainerFeatures;
  /** The folder of the launcher's files on the machine. */
  orders: string;
  /** A folder for the empty folders that hide others. */
  empties: string;
  name: string;
  runId: string;
  image: string;
  hasStdin: boolean;
  /** As root, the launcher switches to the tool's user and drops its own privileges. */
  asRoot: boolean;
  limits: SandboxRequest['limits'];
}

/** The arguments after the engine's `run`: ACOR's options, the image, and Perl. */
export function containerArguments(order: ContainerOrder): string[] {
  const { name, runId, image, hasStdin, features, limits, profile } = order;
  return [
    ...[
      '--rm',
      '--name',
      name,
      '--label',
      `acor.run=${runId}`,
      '--pull=never',
      '--log-driver=none',
      '--stop-timeout=0',
    ],
    ...(hasStdin ? ['--interactive'] : []),
    ...['--network=none', '--hostname=sandbox', '--ipc=private', '--read-only', '--workdir=/'],
    ...['--cap-drop=all', '--security-opt=no-new-privileges', '--no-healthcheck'],
    ...identity(order),
    ...(features.groups ? groupLimits(limits) : []),
    ...(features.lowersLimits ? LOWER_LIMITS : []),
    `--shm-size=${SHARED_MEMORY_BYTES}b`,
    ...temporaryFolders(profile.mounts, limits.tmp_mb),
    ...bind({ path: order.orders, access: 'write' }, ORDERS_FOLDER),
    ...profile.mounts.flatMap((mount, index) =>
      mount.access === 'empty' ? emptied(mount, index, order) : bind(checked(mount), mount.path),
    ),
    '--entrypoint=/usr/bin/perl',
    image,
  ];
}

function identity({ asRoot, features }: ContainerOrder): string[] {
  if (asRoot) return ['--user=0:0', ...['SETUID', 'SETGID', 'SETPCAP'].map((name) => `--cap-add=${name}`)];
  const user = `--user=${process.getuid!()}:${process.getgid!()}`;
  return features.keepsId ? ['--userns=keep-id', user] : [user];
}

function groupLimits({ memory_mb, processes }: SandboxRequest['limits']): string[] {
  return [
    ...(memory_mb === undefined ? [] : [`--memory=${Math.ceil(memory_mb * MB)}b`]),
    ...(processes === undefined ? [] : [`--pids-limit=${tasksFor(processes)}`]),
  ];
}

/** Some engines mount temporary folders without a size limit. */
function temporaryFolders(mounts: readonly Mount[], tmpMb = DEFAULT_TMP_MB): string[] {
  const tmp = `type=tmpfs,destination=/tmp,tmpfs-size=${Math.ceil(tmpMb * MB)},tmpfs-mode=1777`;
  const isThere = (path: string) => mounts.some((mount) => mount.path === path);
  return [
    ...(isThere('/tmp') ? [] : ['--mount', tmp]),
    ...['/run', '/var/tmp'].filter((path) => !isThere(path)).flatMap(empty),
  ];
}

function empty(path: string): string[] {
  return ['--mount', `type=tmpfs,destination=${plain(path)},tmpfs-size=65536,tmpfs-mode=0555,ro`];
}

/**
 * An empty folder of the machine, because engines copy the covered content into a tmpfs. It has a folder for each mount
 * in it.
 */
function emptied(mount: Mount, index: number, { profile: { mounts }, empties }: ContainerOrder): string[] {
  const source = join(empties, String(index));
  mkdirSync(source, { mode: 0o755 });
  for (const inner of mounts) {
    if (enclosing(inner.path, mounts) !== mount) continue;
    const place = join(source, relative(mount.path, inner.path));
    mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
    if (statSync(inner.path, { throwIfNoEntry: false })?.isDirectory()) mkdirSync(place, { recursive: true });
    else writeFileSync(place, '');
  }
  return bind({ path: source, access: 'read' }, mount.path);
}

function bind({ path, access }: Mount, destination = path): string[] {
  const options = access === 'write' ? '' : ',readonly';
  return ['--mount', `type=bind,source=${plain(path)},destination=${plain(destination)}${options}`];
}

/** Mounted by path: a user who can change the path between the check and the start can redirect it. */
function checked(mount: Mount): Mount {
  if (mount.from !== undefined) return { ...mount, path: mount.from };
  if (!mount.isGrant) return mount;
  let real: string;
  try {
    real = realpathSync(mount.path);
  } catch (error) {
    throw grantChanged(mount.path, errorMessage(error));
  }
  if (real !== mount.path) throw grantChanged(mount.path, 'it leads elsewhere now');
  return mount;
}

/** Engines split mount options at commas and differ in how they escape one. */
function plain(path: string): string {
  if (!/[,"\n]/.test(path)) return path;
  throw new AcorError('E_PERMISSION', `${JSON.stringify(path)} cannot be mounted in a container`, {
    hint: 'Use a path without commas, quotes and line breaks.',
  });
}
