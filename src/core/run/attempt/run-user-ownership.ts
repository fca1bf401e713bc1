import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { LIST_RUNS } from '../../../protocol/next-steps.ts';
import { withFileLock } from '../../../util/file-lock.ts';
import { OpenFolder } from '../../../util/open-folder.ts';
import { isInside } from '../../../util/real-path.ts';
import type { Grant } from '../../registry/arguments.ts';
import { statsAt, visitTree } from '../../sandbox/identity/ownership.ts';
import { claimRunUser, isRunUser } from '../../sandbox/identity/run-users.ts';
import type { RunUser } from '../../sandbox/sandbox.ts';
import { type RunHost, type RunWorkspace, streamsOf } from '../workspace.ts';
import {
  type OwnedPath,
  type OwnershipRecord,
  ownershipOfOtherRuns,
  readOwnershipRecord,
  removeOwnershipRecord,
  writeOwnershipRecord,
} from './ownership-record.ts';

/** A user that no other run of this machine has now. */
export interface ClaimedUser {
  user: RunUser;
  release(): void;
}

const MAX_ENTRIES = 50_000;
const FIRST_ACCOUNT = 1000;
/** The uid that the kernel reports for users without a mapping. */
const OVERFLOW_UID = 65_534;
const SET_ID = 0o6000;
/** Writable by everyone, who may remove only their own entries. */
const SHARED = 0o1002;
const READABLE_BY_OTHERS = 0o004;
const ENTERABLE_BY_OTHERS = 0o005;
const WRITABLE_BY_OTHERS = 0o022;

/** The Unix user that a root supervisor assigned to a run. Disposing of it restores the owners of the run's files and frees the uid. */
export interface RunOwnership extends AsyncDisposable {
  user: RunUser;
  /** Gives the user the named pipes of the tool's streams, so that the tool can open them by name. */
  ownStreams(): void;
}

/**
 * A root supervisor does not run tools as root: it assigns a separate Unix user to each run. While the run is live, that user owns its
 * folders and the paths that it may write. A run that writes only to paths of one ordinary user gets that user. A run that shares a
 * writable path with a live run gets that run's user.
 */
export async function takeOwnership(
  host: RunHost,
  layout: RunWorkspace,
  runId: string,
  wanted: {
    grants: readonly Grant[];
    toolFiles: readonly string[];
    needsRunFolder: boolean;
    /** A user that was claimed for a run with new folders, in which only ACOR has written. */
    claim?: ClaimedUser;
  },
): Promise<RunOwnership> {
  for (const path of wanted.toolFiles) checkReadable(path);
  // Only granted paths can be shared between runs, so only they need the project lock.
  const taken =
    wanted.grants.length === 0
      ? take(host, layout, runId, wanted, [])
      : await withFileLock(lockOf(layout), async () => {
          for (const { runId: other, isLive } of await ownershipOfOtherRuns(host, runId))
            if (!isLive) await restoreIfPossible(host, other);
          return take(host, layout, runId, wanted, await ownershipOfOtherRuns(host, runId));
        });
  if (wanted.needsRunFolder) await requireEntered(taken, wanted.toolFiles);
  return taken;
}

/** A run whose files cannot be restored keeps only the runs that use the same files: the check of the store reports it. */
async function restoreIfPossible(host: RunHost, runId: string): Promise<void> {
  try {
    await restoreOwnershipNow(host, host.workspaces.of(runId), runId);
  } catch {}
}

/** Restores the original owner of each path. New files get the owner of their folder. */
export async function restoreOwnership(host: RunHost, layout: RunWorkspace, runId: string): Promise<void> {
  const owned = readOwnershipRecord(layout);
  if (owned === undefined) return;
  if (isOfOneRun(owned)) await restoreOwnershipNow(host, layout, runId, { owned });
  else await withFileLock(lockOf(layout), () => restoreOwnershipNow(host, layout, runId));
}

/** Whether no other run uses any of its paths. */
function isOfOneRun({ paths }: OwnershipRecord): boolean {
  return paths.every(({ isOwn }) => isOwn);
}

function chownStreams(layout: RunWorkspace, { uid, gid }: RunUser): void {
  for (const path of streamsOf(layout)) if (existsSync(path)) chownSync(path, uid, gid);
}

type Others = Awaited<ReturnType<typeof ownershipOfOtherRuns>>;

function take(
  host: RunHost,
  layout: RunWorkspace,
  runId: string,
  wanted: Parameters<typeof takeOwnership>[3],
  others: Others,
): RunOwnership {
  const { user, release } = wanted.claim ?? chooseUser(wanted.grants, others);
  let folder: OpenFolder | undefined;
  try {
    folder = OpenFolder.real(realFolder(layout));
    const paths = pathsFor(layout, folder, wanted, user, others);
    const owned = { ...user, paths };
    writeOwnershipRecord(layout, owned);
    const isNew = wanted.claim !== undefined && assignNew(layout, user, folder);
    for (const path of paths) if (!isNew || !path.isOwn) assign(path, user, others, folder);
    // Without a mount namespace the tool reaches its files through the run's folder, so its user must be able to enter it.
    if (wanted.needsRunFolder) {
      chownSync(layout.dir, 0, user.gid);
      chmodSync(layout.dir, 0o710);
    }
    for (const path of [layout.toolControl, layout.answers]) chmodSync(path, 0o755);
    return {
      user,
      ownStreams: () => chownStreams(layout, user),
      async [Symbol.asyncDispose]() {
        using own = folder;
        if (isOfOneRun(owned)) await restoreOwnershipNow(host, layout, runId, { owned, own });
        else await restoreOwnership(host, layout, runId);
        release();
      },
    };
  } catch (error) {
    folder?.[Symbol.dispose]();
    release();
    throw error;
  }
}

/** Gives the user the folders of a run in which only ACOR has written. False where another user could have replaced one. */
function assignNew(layout: RunWorkspace, { uid, gid }: RunUser, folder: OpenFolder): boolean {
  const { work, checkpoints, artifacts, toolLogs, secrets } = layout;
  // The user may write in `work` once it has that.
  const within = [checkpoints, work, artifacts, toolLogs, secrets].map((path) => relative(layout.dir, path));
  const { uid: owner, mode } = folder.stats();
  if (owner !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0 || within.some((path) => path.startsWith('..')))
    return false;
  for (const path of within) lchownSync(folder.at(path), uid, gid);
  return true;
}

/** The lock that all runs of the project share. */
function lockOf({ dir }: RunWorkspace): string {
  return join(dirname(dir), 'ownership.lock');
}

function chooseUser(grants: readonly Grant[], others: Others): ClaimedUser {
  const written = grants.filter(({ access }) => access === 'write').map(({ path }) => path);
  const sharing = others.filter(({ owned }) =>
    owned.paths.some(({ path, isOwn }) => !isOwn && written.some((each) => overlap(each, path))),
  );
  const [first] = sharing;
  if (first !== undefined) {
    const { uid, gid } = first.owned;
    if (sharing.some(({ owned }) => owned.uid !== uid)) throw inUse(sharing.map(({ runId }) => runId));
    return { user: { uid, gid }, release() {} };
  }
  const [owner] = written.map(statsAt);
  // Its other processes could read them, too.
  const closed = grants
    .filter(({ access }) => access === 'read')
    .map(({ path }) => statsAt(path))
    .filter((stats) => !isOpenToOthers(stats));
  if (
    owner !== undefined &&
    isAccount(owner.uid) &&
    written.every((path) => isAllOf(path, owner.uid)) &&
    closed.every(({ uid }) => uid === owner.uid)
  ) {
    return { user: { uid: owner.uid, gid: owner.gid }, release() {} };
  }
  const { uid, release } = claimRunUser();
  return { user: { uid, gid: uid }, release };
}

/** Whether one user owns everything there. With files of others the account of that user could use those while the run is live. */
function isAllOf(path: string, owner: number): boolean {
  let isAll = true;
  let count = 0;
  visitTree(path, { isDeep: true, skip: () => !isAll }, ({ stats: { uid } }) => {
    if (++count > MAX_ENTRIES) throw tooLarge(path);
    if (uid !== owner) isAll = false;
  });
  return isAll;
}

function isAccount(uid: number): boolean {
  return uid >= FIRST_ACCOUNT && uid !== OVERFLOW_UID && !isRunUser(uid);
}

function pathsFor(
  layout: RunWorkspace,
  folder: OpenFolder,
  { grants, claim }: Pick<Parameters<typeof takeOwnership>[3], 'grants' | 'claim'>,
  user: RunUser,
  others: Others,
): OwnedPath[] {
  const kind = { isDeep: true, isOwn: true };
  const own = [layout.work, layout.artifacts, layout.toolLogs, layout.secrets].map((path): OwnedPath => {
    const real = inside(folder.path, layout, path);
    if (claim === undefined) return describe(real, kind, user, [], folder);
    const { uid = 0, gid = 0 } = lstatSync(real, { throwIfNoEntry: false }) ?? {};
    return { path: real, ...kind, uid, gid, others: {} };
  });
  const granted = grants.flatMap(({ path, access }) => {
    if (access === 'write') return describe(path, { isDeep: true, isOwn: false }, user, others);
    // Only the granted path itself changes owner. Entries below it that other users cannot read stay closed to the tool.
    return isOpenToOthers(statsAt(path)) ? [] : describe(path, { isDeep: false, isOwn: false }, user, others);
  });
  return [...own, ...granted];
}

function isOpenToOthers(stats: Stats): boolean {
  const needed = stats.isDirectory() ? ENTERABLE_BY_OTHERS : READABLE_BY_OTHERS;
  return (stats.mode & needed) === needed;
}

/** The tool's files keep their owner, because many runs use them at once, so every user must be able to read them. */
function checkReadable(path: string): void {
  // A tools folder may be a link, and no tool can write there.
  if (isOpenToOthers(statSync(path))) return;
  throw new AcorError(
    'E_PERMISSION',
    `only its owner may read ${path}, and a root supervisor runs each tool as a separate user`,
    {
      hint: `Let other users read it: chmod -R o+rX '${path}'`,
      next: [{ command: `chmod -R o+rX '${path}'`, why: 'Let other users read it.' }],
    },
  );
}

/** Without a mount namespace the tool reaches its files through the folders above them. */
async function requireEntered(taken: RunOwnership, toolFiles: readonly string[]): Promise<void> {
  // Loaded late: few machines have such a sandbox alone.
  const { notEntered } = await import('../../sandbox/identity/closed-folders.ts');
  for (const path of toolFiles) {
    const denied = notEntered(path, dirname(path), taken.user);
    if (denied === undefined) continue;
    await taken[Symbol.asyncDispose]();
    throw denied;
  }
}

function describe(
  path: string,
  kind: { isDeep: boolean; isOwn: boolean },
  user: RunUser,
  others: Others,
  from?: OpenFolder,
): OwnedPath {
  const owned: OwnedPath = { path, ...kind, uid: 0, gid: 0, others: {} };
  for (const other of others) {
    for (const each of other.owned.paths) {
      // Another live run owns it or a part of it; the record of that run has the original owner.
      if (isInside(path, each.path)) Object.assign(owned, { uid: each.uid, gid: each.gid });
      if (overlap(path, each.path)) Object.assign(owned.others, each.others);
    }
  }
  let count = 0;
  visitTree(
    path,
    { isDeep: kind.isDeep, skip: isOwnedByRun(others), from },
    ({ path: at, stats }): 'closed' | undefined => {
      const { uid, gid } = stats;
      if (!kind.isOwn && ++count > MAX_ENTRIES) throw tooLarge(path);
      if (isRunUser(uid) && uid !== user.uid) throw inUse([path]);
      if (at === path) Object.assign(owned, { uid, gid });
      else if (uid !== owned.uid || gid !== owned.gid) owned.others[identityOf(stats)] = [uid, gid];
      return !kind.isOwn && isShared(stats) ? 'closed' : undefined;
    },
  );
  return owned;
}

function assign({ path, isDeep, isOwn }: OwnedPath, user: RunUser, others: Others, folder: OpenFolder): void {
  visitTree(
    path,
    isOwn ? { isDeep, from: folder } : { isDeep, skip: isOwnedByRun(others) },
    ({ stats, chown }): 'closed' | undefined => {
      if (!isOwn && isShared(stats)) return 'closed';
      // The file of a hard link would change its owner under its other name, too. A set-id file would lose those bits, or get them back with
      // what the tool has written into it.
      const stays = !stats.isDirectory() && (stats.nlink > 1 || (stats.mode & SET_ID) !== 0);
      // Another run with the same account began before these files were here.
      const isForeign = !isOwn && !isRunUser(user.uid);
      if (stats.uid !== user.uid && !stays && !isForeign) chown(user.uid, user.gid);
      return undefined;
    },
  );
}

/** A folder like /tmp (mode 1777), in which every user has files of their own: neither it nor what is in it is given to the run. */
function isShared(stats: Stats): boolean {
  return stats.isDirectory() && (stats.mode & SHARED) === SHARED;
}

/** Of a file, and of no later one with the number of the same inode. */
function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

/** Paths that another live run owns stay as they are. */
function isOwnedByRun(others: Others): (path: string) => boolean {
  const taken = others.flatMap(({ owned }) => owned.paths.map(({ path }) => path));
  return (path) => taken.some((each) => isInside(path, each));
}

/** `own` is the open folder of the run. */
async function restoreOwnershipNow(
  host: RunHost,
  layout: RunWorkspace,
  runId: string,
  {
    owned = readOwnershipRecord(layout),
    own: opened,
  }: { owned?: OwnershipRecord | undefined; own?: OpenFolder | undefined } = {},
): Promise<void> {
  if (owned === undefined) return;
  const isShared = owned.paths.some(({ isOwn }) => !isOwn);
  const others = isShared ? await ownershipOfOtherRuns(host, runId) : [];
  const live = others.filter(({ isLive }) => isLive);
  using reopened = opened === undefined ? openIfThere(realFolder(layout)) : undefined;
  const folder = opened ?? reopened;
  for (const each of owned.paths) {
    if (!each.isOwn) restore(each, owned, live);
    else if (folder !== undefined)
      restore({ ...each, path: inside(folder.path, layout, each.path) }, owned, live, folder);
  }
  if (folder !== undefined) {
    chmodSync(folder.self, 0o700);
    chownSync(folder.self, 0, 0);
  }
  removeOwnershipRecord(layout);
}

function restore(
  { path, isDeep, uid, gid, others }: OwnedPath,
  owned: OwnershipRecord,
  live: Others,
  from?: OpenFolder,
): void {
  visitTree(path, { isDeep, skip: isOwnedByRun(live), from }, ({ stats, chown }) => {
    if (stats.uid !== owned.uid) return;
    const [owner, group] = others[identityOf(stats)] ?? [uid, gid];
    if (owner !== stats.uid || group !== stats.gid) chown(owner, group);
  });
}

/** Only the store's folder is resolved: the tool may have replaced anything below it by a link. */
function realFolder({ dir }: RunWorkspace): string {
  return join(realpathSync(dirname(dir)), basename(dir));
}

/** The real path of an own path of the run, which may lie elsewhere. */
function inside(folder: string, layout: RunWorkspace, path: string): string {
  const within = relative(layout.dir, path);
  return within.startsWith('..') ? path : join(folder, within);
}

function openIfThere(path: string): OpenFolder | undefined {
  return existsSync(path) ? OpenFolder.real(path) : undefined;
}

function overlap(a: string, b: string): boolean {
  return isInside(a, b) || isInside(b, a);
}

function inUse(holders: readonly string[]): AcorError {
  return new AcorError('E_PERMISSION', `other runs use a path that this run writes: ${holders.join(', ')}`, {
    hint: 'Wait until they end, then run this again; or run ACOR as an ordinary user.',
    next: [LIST_RUNS],
  });
}

function tooLarge(path: string): AcorError {
  return new AcorError(
    'E_PERMISSION',
    `${path} has more than ${MAX_ENTRIES} entries, too many to change their owner for each run`,
    { hint: `Run ACOR as the owner of ${path}, or let one ordinary user own it: chown -R USER '${path}'` },
  );
}
